import type { CodeFinding, CodeFindings } from '../../../marketplace/ports/chat-tasks.ts'
import { EngineRefusal } from '../../engines/refusal.ts'
import { type FencedBlock, fencedBlocks } from './fences.ts'
import { isShallow } from './nesting.ts'
import { languageNamed } from './parsers.ts'

/** In UTF-16 units. */
const TEXT_CHARS_MAX = 600_000
const BLOCKS_MAX = 64
const PROBLEM_CHARS_MAX = 200

/** Parses the code in a text, and never runs it. Throws a refusal if the text is too long. */
export function checkCode({ text }: { readonly text: string }): CodeFindings {
  if (text.length > TEXT_CHARS_MAX) throw new EngineRefusal(`the text has more than ${TEXT_CHARS_MAX} characters`)
  const blocks = fencedBlocks(text)
  return { blocks: blocks.slice(0, BLOCKS_MAX).map(findingOf), total: blocks.length }
}

function findingOf({ language, code, line, closed }: FencedBlock): CodeFinding {
  const known = languageNamed(language)
  if (known === null) return { language, line, verdict: 'not checked', problem: closed ? null : UNCLOSED }
  if (known.parses && !isShallow(code))
    return { language, line, verdict: 'not checked', problem: 'it is nested too deeply' }
  const problem = known.read(code) ?? (closed ? null : UNCLOSED)
  const verdict = known.parses ? (problem === null ? 'parses' : 'broken') : 'not checked'
  return { language, line, verdict, problem: problem === null ? null : inOneLine(problem) }
}

const UNCLOSED = 'its fence is not closed'

function inOneLine(problem: string): string {
  return problem
    .slice(0, 2 * PROBLEM_CHARS_MAX)
    .replaceAll(/\s+/g, ' ')
    .slice(0, PROBLEM_CHARS_MAX)
}
