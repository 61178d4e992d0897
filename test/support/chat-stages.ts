import type { ChatCall, ChatModelId, ChatOutcome, StageReport } from '../../marketplace/chat/call.ts'
import type { ChatMessage } from '../../marketplace/chat/models/backend.ts'
import type { ChatWorld } from './chat-world.ts'
import type { ChatProfile, ChatQuestion, FakeOpenAi } from './upstreams/openai.ts'

/** For each stage, words that only its prompt has. `Revision` is the evaluator's second question. */
const MARKS = {
  Researcher: 'You are the researcher.',
  Planner: 'You are the planner.',
  Executor: 'You are the executor.',
  Synthesizer: 'You are the synthesizer.',
  Critic: 'You are the critic.',
  Optimizer: 'You are the optimizer.',
  'Quality Evaluator': 'You are the quality evaluator.',
  Revision: 'You revise an answer.',
  Reviewer: 'You are the reviewer,',
} as const

/** A stage of a pipeline that asks a model a question. */
export type AskedStage = keyof typeof MARKS

export const ASKED_STAGES = Object.keys(MARKS) as readonly AskedStage[]

/** The default answer to each stage. All differ. */
export const SAID: Readonly<Record<AskedStage, string>> = {
  Researcher: 'Notes of the researcher.',
  Planner: '1. The plan.',
  Executor: 'Draft by the executor.',
  Synthesizer: 'Text by the synthesizer.',
  Critic: 'Faults by the critic.',
  Optimizer: 'Text by the optimizer.',
  'Quality Evaluator': '{"passes":true,"issues":[]}',
  Revision: 'Text by the revision.',
  Reviewer: 'Text by the reviewer.',
}

/** The answer of an evaluator that rejects a draft. */
export const FAILED = '{"passes":false,"issues":["It is too short."]}'

export function messagesOf({ body }: ChatQuestion): readonly ChatMessage[] {
  return body.messages as readonly ChatMessage[]
}

/** All texts of a question. */
export function promptOf(question: ChatQuestion): string {
  return messagesOf(question)
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('\n')
}

/** The stage that asks. Only instructions are searched: quoted text could contain the words of another stage. */
export function stageOf(question: ChatQuestion): AskedStage {
  const instructions = messagesOf(question).filter(({ role }) => role === 'system' || role === 'developer')
  const text = JSON.stringify(instructions)
  const stage = ASKED_STAGES.find((name) => text.includes(MARKS[name]))
  if (stage === undefined) throw new Error(`no stage asks: ${text}`)
  return stage
}

/** Answers each stage with its own words. */
export function sayingByStage(said: Partial<Record<AskedStage, string>> = {}): (question: ChatQuestion) => string {
  return (question) => ({ ...SAID, ...said })[stageOf(question)]
}

/** A question that sends model-3 down its full path. */
export const WORK = 'Write a TypeScript function that parses dates, and explain what it does with leap years.'
/** Stages of model-2 as its report names them. */
export const THREE: readonly AskedStage[] = ['Planner', 'Executor', 'Quality Evaluator']
/** Stages of model-3 as its report names them. */
export const TEN: readonly string[] = [
  ...['Router', 'Researcher', 'Planner', 'Executor', 'Synthesizer', 'Critic', 'Optimizer', 'Validator'],
  ...['Quality Evaluator', 'Reviewer'],
]
/** Stages of model-3 that ask a model. */
export const ASKING = TEN.filter((stage) => stage !== 'Router' && stage !== 'Validator') as readonly AskedStage[]

/** A chat of one message. */
export function asking(model: ChatModelId, content = 'How are you?'): Partial<ChatCall> {
  return { model, messages: [{ role: 'user', content }] }
}

/**
 * Prepares a server for the next test: it answers each stage with that stage's default words, and forgets the questions so far. Its other
 * fields stay as they are.
 */
export function reset(fake: FakeOpenAi): void {
  fake.profile = 'ok'
  fake.answer = sayingByStage()
  fake.questions.length = 0
}

/** Makes some stages fail. The default failure does not count against the server. */
export function failIn(fake: FakeOpenAi, stages: readonly AskedStage[], how: ChatProfile = 'empty-content'): void {
  fake.profile = (question) => (stages.includes(stageOf(question)) ? how : 'ok')
}

/** The stages that asked, in order. */
export function orderOf({ fake }: Pick<ChatWorld, 'fake'>): readonly AskedStage[] {
  return fake.questions.map(stageOf)
}

export function questionOf({ fake }: Pick<ChatWorld, 'fake'>, stage: AskedStage): ChatQuestion {
  const found = fake.questions.find((question) => stageOf(question) === stage)
  if (found === undefined) throw new Error(`${stage} was not asked`)
  return found
}

/** Text of an answer. */
export function answerOf({ choices }: ChatOutcome): unknown {
  return choices[0]?.message.content
}

export function reportOf({ report }: ChatOutcome, name: string): StageReport | undefined {
  return report.stages.find(({ stage }) => stage === name)
}
