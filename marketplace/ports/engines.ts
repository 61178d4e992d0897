import type { Result } from '../../consensus/primitives/result.ts'
import type { ChatTasks } from './chat-tasks.ts'
import type { DocumentTasks } from './document-tasks.ts'
import type { ImageTasks } from './image-tasks.ts'
import type { LanguageTasks } from './language-tasks.ts'
import type { PageTasks } from './page-tasks.ts'

/** Every piece of work for the engines, by name: what goes in and what comes out, plain values both. */
export type EngineTasks = PageTasks & DocumentTasks & LanguageTasks & ImageTasks & ChatTasks

/** Name of a piece of work. */
export type EngineTask = keyof EngineTasks

/**
 * Processes for work on content of strangers, and for work that would hold up the event loop. Each piece of work has limits of
 * time and memory of its own; what exceeds them is ended with its process, and is a fault (`engine/killed`, `engine/failed`,
 * `engine/refused` where the input is to blame). Those who ask for free work, each with a name in `who`, take turns.
 */
export interface Engines {
  run<Name extends EngineTask>(
    task: Name,
    input: EngineTasks[Name]['input'],
    signal: AbortSignal,
    who?: string,
  ): Promise<Result<EngineTasks[Name]['output']>>
}

/** The engines, asked for one who pays for none of it. */
export function enginesFor(engines: Engines, who: string): Engines {
  return { run: (task, input, signal) => engines.run(task, input, signal, who) }
}
