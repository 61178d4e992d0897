import type { ChatOutcome, StageReport } from '../../marketplace/chat/call.ts'
import type { ChatMessage } from '../../marketplace/chat/models/backend.ts'
import type { ChatMeans } from '../../marketplace/chat/stage.ts'
import { ChatWorld } from './chat-world.ts'
import type { ChatQuestion } from './upstreams/openai.ts'

/** The first words of the instruction of each stage of model-4. */
const ASKING = {
  route: 'You sort requests',
  summary: 'You shorten a part',
  short: 'Answer the last message of the conversation, in its language, briefly',
  draft: 'Answer the last message of the conversation, in its language. ',
  sample: 'Solve what the last message',
  synthesis: 'Think carefully',
  polish: 'The answer to the last message of the conversation is finished',
  judge: 'Several assistants solved',
} as const

/** A stage of model-4. `plain` is a question without instruction, such as one about an image. */
export type Asking = keyof typeof ASKING | 'plain'

/** The answer to each stage's question. */
export type Script = Readonly<Partial<Record<Asking, string | ((question: ChatQuestion) => string)>>>

/** One question for each tier of model-4. */
export const QUESTIONS = {
  instant: 'Hello!',
  fast: 'Is a whale a fish?',
  standard: 'Explain how tides work',
  deep: 'Solve 3x + 5 = 20',
  code: 'Write a JavaScript function that adds two numbers',
  current: 'Who won the cup today?',
} as const

/** All eight steps, in their order. */
export const EIGHT = [
  'Smart router',
  'Context compression',
  'Web search',
  'Parallel draft generation',
  'Deep-thinking synthesis',
  'Code validation',
  'Polish pass',
  'Self-consistency voting',
]

export function openEnsemble(means: Partial<ChatMeans> = {}, servers = 3): Promise<ChatWorld> {
  const backends = Array.from({ length: servers }, (_, i) => ({ models: [{ id: `model-of-${i}` }] }))
  return ChatWorld.open({ backends, means })
}

/**
 * Forgets all questions and makes all servers answer well. A stage that the script leaves out is answered with its name, a draft with the
 * index of its server.
 */
export function resetEnsemble(world: ChatWorld, script: Script = {}): void {
  for (const [i, fake] of world.fakes.entries()) {
    fake.questions.length = 0
    fake.profile = 'ok'
    fake.answer = (question) => {
      const asked = askedFor(question)
      const said = script[asked] ?? (asked === 'draft' ? `Draft of ${i}` : `The ${asked}.`)
      return typeof said === 'string' ? said : said(question)
    }
  }
}

/** The stage that asked a question. */
export function askedFor(question: ChatQuestion): Asking {
  const instructions = messagesIn(question).filter(({ role }) => role === 'system')
  const entries = Object.entries(ASKING) as [Asking, string][]
  const found = entries.find(([, words]) => instructions.some(({ content }) => String(content).startsWith(words)))
  return found?.[0] ?? 'plain'
}

export function messagesIn({ body }: ChatQuestion): readonly ChatMessage[] {
  return body.messages as readonly ChatMessage[]
}

/** All questions of one stage, at all servers. */
export function questionsFor(world: ChatWorld, asking: Asking): readonly ChatQuestion[] {
  return world.fakes.flatMap(({ questions }) => questions).filter((question) => askedFor(question) === asking)
}

/** How often each stage asked. */
export function asked(world: ChatWorld): Readonly<Partial<Record<Asking, number>>> {
  const counts: Partial<Record<Asking, number>> = {}
  for (const question of world.fakes.flatMap(({ questions }) => questions)) {
    const asking = askedFor(question)
    counts[asking] = (counts[asking] ?? 0) + 1
  }
  return counts
}

/** A call of model-4 with one question. */
export function askingBeast(content: unknown): {
  readonly model: 'model-4'
  readonly messages: readonly ChatMessage[]
} {
  return { model: 'model-4', messages: [{ role: 'user', content }] }
}

/** Text of an answer. */
export function textIn({ choices }: ChatOutcome): unknown {
  return choices[0]?.message.content
}

/** Names of the stages that ran. */
export function ranIn({ report }: ChatOutcome): readonly string[] {
  return report.stages.filter(({ ran }) => ran).map(({ stage }) => stage)
}

/** Report of one stage. */
export function stageIn({ report }: ChatOutcome, name: string): StageReport {
  return report.stages.find(({ stage }) => stage === name) as StageReport
}
