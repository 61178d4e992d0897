import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { CodeFinding, CodeFindings } from '../../ports/chat-tasks.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { HANDED_CHARS } from './bounds.ts'
import { shortened } from './quoting.ts'

/** Whether a text may contain a fenced code block. */
export function hasCode(text: string): boolean {
  return text.includes('```') || text.includes('~~~')
}

/** Parses in a separate process. The code is never run. Faults: `engine/*`. */
export function checkCode(
  text: string,
  { means, signal }: Pick<StageContext, 'means' | 'signal'>,
): Promise<Result<CodeFindings>> {
  return means.engines.run('chat/check-code', { text }, signal)
}

/** Code findings in `x_platform`, and the text that they are about. */
interface CodeReport extends CodeFindings {
  /** `draft` if later stages may have rewritten the text. */
  readonly checked: 'draft' | 'answer'
}

/** Adds code findings to the state. */
export function withFindings(state: ChatState, checked: CodeReport['checked'], found: CodeFindings): ChatState {
  const code: CodeReport = { checked, total: found.total, blocks: found.blocks }
  return { ...state, facts: { ...state.facts, code } }
}

/** One problem per line. Empty if there are none, or if nothing was checked. */
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
