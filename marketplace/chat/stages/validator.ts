import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { CodeFinding, CodeFindings } from '../../ports/chat-tasks.ts'
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

/** What is told of code in `x_platform`: which text was looked at, and what was found in it. */
interface CodeReport extends CodeFindings {
  /** A text that stages after it may have written anew, or the answer that was given. */
  readonly checked: 'draft' | 'answer'
}

/** A state that tells what is known of the code of a text. */
export function withFindings(state: ChatState, checked: CodeReport['checked'], found: CodeFindings): ChatState {
  const code: CodeReport = { checked, total: found.total, blocks: found.blocks }
  return { ...state, facts: { ...state.facts, code } }
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
