import { fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { OperatorFont } from '../../../marketplace/ports/document-tasks.ts'
import type { Documents } from '../../../marketplace/ports/documents.ts'
import type { Engines } from '../../../marketplace/ports/engines.ts'
import { facesWith } from './faces.ts'
import { scriptsOf } from './scripts.ts'
import { unsettableIn } from './text-runs.ts'

const FONT_MS_MAX = 10_000

/** What {@link openDocuments} needs. */
export interface DocumentParts {
  readonly engines: Engines
  /** The settings `documents.*`. */
  readonly currency: string
  readonly fonts: readonly string[]
}

/** A fault if a font file or the currency cannot be used. */
export async function openDocuments({ engines, currency, fonts: paths }: DocumentParts): Promise<Result<Documents>> {
  if (!Intl.supportedValuesOf('currency').includes(currency))
    return fail(
      fault('config/value', {
        key: 'documents.currency',
        value: currency,
        allowed: 'a currency of ISO 4217, like EUR',
      }),
    )
  const fonts: OperatorFont[] = []
  for (const path of paths) {
    const font = await engines.run('document/font', { path }, AbortSignal.timeout(FONT_MS_MAX))
    if (!font.ok) return fail(fault('config/file', { path, reason: faultMessage(font.fault) }))
    fonts.push(font.value)
  }
  const faces = facesWith(fonts)
  return ok({
    readiness: () => ({ available: true, engine: 'document/pdf' }),
    currency,
    scripts: scriptsOf(faces),
    unsettable: (text) => unsettableIn(faces, text),
    render: (sheet, signal) => engines.run('document/pdf', { sheet, fonts }, signal),
  })
}
