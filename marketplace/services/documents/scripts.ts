import { fitsText } from '../../../consensus/primitives/text.ts'
import { DESCRIPTION_BYTES_MAX } from '../../../consensus/tx/payloads.ts'
import type { ServiceDefinition } from '../service.ts'

/** Scripts that a node prints without fonts of its operator. */
const BUILT_IN_SCRIPTS = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Georgian']

/** The end of a document service's description, if the operator configured no fonts. */
export const BUILT_IN_SCRIPTS_SAID = said(BUILT_IN_SCRIPTS)

/** Replaces the scripts in the description: as many of these, from the first on, as the registry's limit allows. */
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
