import { fitsText } from '../../../consensus/primitives/text.ts'
import { DESCRIPTION_BYTES_MAX } from '../../../consensus/tx/payloads.ts'
import type { ServiceDefinition } from '../service.ts'

/** What a node prints whose operator names no fonts. */
const BUILT_IN_SCRIPTS = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Georgian']

/** The end of a description of documents, as it is without fonts of the operator. */
export const BUILT_IN_SCRIPTS_SAID = said(BUILT_IN_SCRIPTS)

/**
 * A service as it describes itself where these scripts are printed, those that are asked for most first: as many of them as the
 * registry has room for.
 */
export function withScripts(definition: ServiceDefinition, scripts: readonly string[]): ServiceDefinition {
  if (!definition.description.endsWith(BUILT_IN_SCRIPTS_SAID)) return definition
  const terms = definition.description.slice(0, -BUILT_IN_SCRIPTS_SAID.length)
  const description = scripts
    .map((_, i) => terms + said(scripts.slice(0, scripts.length - i)))
    .find((one) => fitsText(one, DESCRIPTION_BYTES_MAX))
  return description === undefined ? definition : { ...definition, description }
}

function said(scripts: readonly string[]): string {
  return `It prints ${scripts.join(', ')}.`
}
