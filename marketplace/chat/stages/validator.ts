import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { CodeFinding, CodeFindings } from '../../outside/chat-tasks.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { HANDED_CHARS } from './bounds.ts'
import { shortened } from './quoting.ts'

/** Whether there may be a fenced block of code in a text. */
export function hasCode(text: string): boolean {
  return text.includes('```') || text.includes('~~~')
}

/**
 * Parses the code in a text with fenced blocks, in a process of its own, and runs none of it. Faults: `engine/*`.
 */
export function checkCode(
  text: string,
  { means, signal }: Pick<StageContext, 'means' | 'signal'>,
): Promise<Result<CodeFindings>> {
  return means.engines.run('chat/check-code', { text }, signal)
}

/** A state that tells what is known of the code of a text: of one that may still be rewritten, or of the answer that was given. */
export function withFindings(state: ChatState, of: 'draft' | 'answer', found: CodeFindings): ChatState {
  return { ...state, facts: { ...state.facts, code: { of, ran: false, ...found } } }
}

/** What was found wrong in the code of a state's text, a line each; empty where nothing was, or nothing was looked at. */
export function brokenCode({ facts }: ChatState): string {
  const { blocks = [] } = (facts.code ?? {}) as Partial<CodeFindings>
  return shortened(
    blocks
      .filter(({ problem }) => problem !== null)
      .map(lineOf)
      .join('\n'),
    HANDED_CHARS.findings,
  )
}

function lineOf({ language, line, verdict, problem }: CodeFinding): string {
  const by = verdict === 'broken' ? 'does not parse' : 'may be damaged; it was not parsed'
  return `The block on line ${line} (${language === '' ? 'no language' : language}) ${by}: ${problem}`
}

/** Parses the code of the draft. */
export const validator: Stage = {
  name: 'Validator',
  about: 'Parses the code in the draft (JavaScript, TypeScript, JSON, YAML, HTML tags) without running it.',
  keeps: 0.1,
  skip: ({ text }) => (hasCode(text) ? null : 'there is no code to check'),
  run: async (state, context) => {
    const found = await checkCode(state.text, context)
    return found.ok ? ok(withFindings(state, 'draft', found.value)) : found
  },
}
