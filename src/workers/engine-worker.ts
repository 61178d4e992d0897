import type { EngineTask, EngineTasks } from '../../marketplace/ports/engines.ts'
import { EngineRefusal } from '../engines/refusal.ts'

/** A job as it is sent to a process. */
export interface EngineJob {
  readonly task: EngineTask
  readonly input: unknown
}

/** The result: the output, or why the input cannot be used. */
export type EngineOutcome = { readonly output: unknown } | { readonly refused: string }

type Engine<Name extends EngineTask> = (
  input: EngineTasks[Name]['input'],
) => EngineTasks[Name]['output'] | Promise<EngineTasks[Name]['output']>

/** Loaded on first use, because each engine brings libraries of its own. */
const ENGINES: { readonly [Name in EngineTask]?: () => Promise<Engine<Name>> } = {
  'page/article': async () => (await import('../engines/pages/article.ts')).readArticle,
  'page/meta': async () => (await import('../engines/pages/meta.ts')).readMeta,
  'page/feed': async () => (await import('../engines/pages/feed.ts')).readFeed,
  'document/pdf': async () => (await import('../engines/documents/document-pdf.ts')).setDocument,
  'document/font': async () => (await import('../engines/documents/font-file.ts')).readFontFile,
  'text/summary': async () => (await import('../engines/language/summary.ts')).summarise,
  'text/mood': async () => (await import('../engines/language/mood.ts')).moodOf,
  'text/subjects': async () => (await import('../engines/language/subjects.ts')).subjectsOf,
  'chat/plain-text': async () => (await import('../chat/engines/plain-text.ts')).plainText,
  'chat/check-schema': async () => (await import('../chat/engines/check-schema.ts')).checkSchema,
  'chat/check-code': async () => (await import('../chat/engines/check-code.ts')).checkCode,
  'image/square-png': async () => (await import('../engines/images/square-png.ts')).squarePng,
  'image/vision': async () => (await import('../engines/images/vision-image.ts')).visionImage,
  'image/procedural': async () => (await import('../engines/images/procedural.ts')).proceduralPng,
}

/** `started` is called when the engine is loaded. */
export async function runEngine({ task, input }: EngineJob, started = (): void => undefined): Promise<EngineOutcome> {
  const load = ENGINES[task] as (() => Promise<Engine<EngineTask>>) | undefined
  if (load === undefined) throw new Error(`there is no engine for ${task}`)
  const engine = await load()
  started()
  try {
    return { output: await engine(input as never) }
  } catch (error) {
    if (error instanceof EngineRefusal) return { refused: error.message }
    throw error
  }
}
