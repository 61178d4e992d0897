import type { ChatCall } from '../../marketplace/chat/call.ts'
import type { ChatMeans } from '../../marketplace/chat/stage.ts'
import { ChatWorld, type WorldBackend } from './chat-world.ts'
import type { ChatProfile } from './upstreams/openai.ts'

/** The outcome of a chat whose server misbehaves. */
export interface FaultRun {
  /** `ok`, or the code of the fault. */
  readonly came: string
  /** Text of the answer. For a chat that failed, the text read before it failed. */
  readonly text: string
  /** How many pieces were read. */
  readonly pieces: number
  /** How many questions the server was asked. */
  readonly hits: number
}

export interface FaultRunParts {
  readonly call: Partial<ChatCall>
  /** Whether the answer is streamed. */
  readonly reads: boolean
  readonly backend?: WorldBackend
  readonly means?: Partial<ChatMeans>
  /** What the server says while all is well. */
  readonly answer?: ChatWorld['fake']['answer']
}

/** Time limit of an attempt, at a server that never ends its answer and at any other. */
const TIMEOUT_MS = { endless: 300, usual: 8_000 }
const ENDLESS: readonly ChatProfile[] = ['hang', 'stall']

/**
 * Runs a chat against a server that behaves as `profile` says. Returns when that server has no open question.
 * `test/integration/chat/chat-faults.test.ts` lists the outcomes of chats that one model answers.
 */
export async function runFault(profile: ChatProfile, parts: FaultRunParts): Promise<FaultRun> {
  const { call, reads, backend = {}, means = {}, answer } = parts
  const timeoutMs = ENDLESS.includes(profile) ? TIMEOUT_MS.endless : TIMEOUT_MS.usual
  const limits = { timeoutMs, ...backend.limits }
  const world = await ChatWorld.open({ backends: [{ ...backend, limits }], means })
  world.fake.profile = profile
  if (answer !== undefined) world.fake.answer = answer
  try {
    const { outcome, text, pieces } = reads
      ? await world.read(call)
      : { outcome: await world.ask(call), text: '', pieces: [] }
    await world.settled()
    const content = outcome.ok ? outcome.value.choices[0]?.message.content : text
    return {
      came: outcome.ok ? 'ok' : outcome.fault.code,
      text: typeof content === 'string' ? content : '',
      pieces: pieces.length,
      hits: world.fake.questions.length,
    }
  } finally {
    await world.close()
  }
}
