import type { EngineTask, EngineTasks } from '../../marketplace/outside/engines.ts'
import { EngineRefusal } from '../engines/refusal.ts'

/** A piece of work as it crosses to a thread. */
export interface EngineJob {
  readonly task: EngineTask
  readonly input: unknown
}

/** What comes back: the output, or why the input cannot be used. */
export type EngineOutcome = { readonly output: unknown } | { readonly refused: string }

type Engine<Name extends EngineTask> = (
  input: EngineTasks[Name]['input'],
) => EngineTasks[Name]['output'] | Promise<EngineTasks[Name]['output']>

/** The engine of each piece of work, loaded when the first such work comes: each brings libraries of its own. */
const ENGINES: { readonly [Name in EngineTask]?: () => Promise<Engine<Name>> } = {}

/** Thread entry: does one piece of work. */
export async function runEngine({ task, input }: EngineJob): Promise<EngineOutcome> {
  const load = ENGINES[task] as (() => Promise<Engine<EngineTask>>) | undefined
  if (load === undefined) throw new Error(`there is no engine for ${task}`)
  const engine = await load()
  try {
    return { output: await engine(input as never) }
  } catch (error) {
    if (error instanceof EngineRefusal) return { refused: error.message }
    throw error
  }
}
