import { type Static, type TObject, Type } from 'typebox'
import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import type { EngineTasks } from '../../ports/engines.ts'
import type { LanguageTasks } from '../../ports/language-tasks.ts'
import type { Readiness } from '../../ports/readiness.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { type RequestForm, refusal } from '../requests.ts'
import { guessLanguage, languageName } from './language.ts'
import { askModel, type ModelWork, textModel } from './model-work.ts'

/** A task on a text: done by a model, or by a built-in engine for English if there is no model or it fails. */
export interface TextWork<Schema extends TObject, Task extends keyof LanguageTasks> extends ModelWork<Schema> {
  readonly serviceId: ServiceId
  /** The task for the built-in engine, and the engine's name in results. */
  readonly own: { readonly task: Task; readonly engine: string }
}

/** The result, by a model or by the built-in engine. */
export type TextFinding<Schema extends TObject, Task extends keyof LanguageTasks> =
  | { readonly by: 'model'; readonly value: Static<Schema> }
  | { readonly by: 'engine'; readonly value: EngineTasks[Task]['output'] }

/** First fields of every result about a text. */
export const TEXT_ENVELOPE = {
  ...ENGINE_ENVELOPE,
  language: Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$' }),
  languageAssumed: Type.Boolean(),
}

/** Leaves time for the built-in engine after a model that failed. */
export const TEXT_TIMEOUT_MS = 60_000

/** Always available: with a model, or else with the built-in engine, whose name is given. */
export function textReady(context: ServiceContext, engine: string): Readiness {
  return { available: true, engine: textModel(context, 0)?.engine ?? engine }
}

/** Without a model that can take the text, only English works. */
export function languageFault(context: ServiceContext, text: string, form: RequestForm): Fault | null {
  if (textModel(context, text.length) !== null) return null
  const guess = guessLanguage(text)
  if (guess.language === 'en') return null
  const why = textModel(context, 0) === null ? 'without a model' : 'beyond the length that the model can take'
  return refusal(`the text seems to be in ${languageName(guess)}: ${why}, only English is understood`, form)
}

/** If neither a model nor the built-in engine can do it, the service fails and its caller is refunded. */
export async function workOnText<Schema extends TObject, Task extends keyof LanguageTasks>(
  context: ServiceContext,
  work: TextWork<Schema, Task>,
  text: string,
  signal: AbortSignal,
) {
  const { serviceId, own } = work
  const guess = guessLanguage(text)
  const told = await askModel(context, work, text, signal)
  if (told.ok) {
    const { engine, language: said, answer } = told.value
    const language = guess.assumed || guess.language === 'und' ? said : guess.language
    return {
      envelope: {
        ...engineEnvelope(serviceId, engine, context),
        language: language ?? guess.language,
        languageAssumed: language === null && guess.assumed,
      },
      finding: { by: 'model', value: answer } as TextFinding<Schema, Task>,
    }
  }
  if (guess.language !== 'en')
    throw new Error(
      `${faultMessage(told.fault)}; without a model only English is understood, not ${languageName(guess)}`,
    )
  const value = delivered(await context.outside.engines.run(own.task, { text }, signal))
  return {
    envelope: { ...engineEnvelope(serviceId, own.engine, context), language: 'en', languageAssumed: guess.assumed },
    finding: { by: 'engine', value } as TextFinding<Schema, Task>,
  }
}
