import type { Result } from '../../consensus/primitives/result.ts'
import type { ChatTasks } from './chat-tasks.ts'
import type { DocumentTasks } from './document-tasks.ts'
import type { ImageTasks } from './image-tasks.ts'
import type { LanguageTasks } from './language-tasks.ts'
import type { PageTasks } from './page-tasks.ts'

/** Every engine task by name. Inputs and outputs are plain values. */
export type EngineTasks = PageTasks & DocumentTasks & LanguageTasks & ImageTasks & ChatTasks

/** Name of an engine task. */
export type EngineTask = keyof EngineTasks

/**
 * Processes for work on untrusted content, and for work that would block the event loop. A task that exceeds its limit
 * of time or memory is killed with its process. Faults: `engine/killed`, `engine/failed`, and `engine/refused` if the
 * input is to blame. Free work names its caller in `who`, and these callers take turns.
 */
export interface Engines {
  run<Name extends EngineTask>(
    task: Name,
    input: EngineTasks[Name]['input'],
    signal: AbortSignal,
    who?: string,
  ): Promise<Result<EngineTasks[Name]['output']>>
}

/** The engines for the free work of one caller. */
export function enginesFor(engines: Engines, who: string): Engines {
  return { run: (task, input, signal) => engines.run(task, input, signal, who) }
}
