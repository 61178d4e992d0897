import type { ChatModelId } from './call.ts'
import { lastQuestion, textOfMessage } from './conversation.ts'
import type { ChatMessage } from './models/backend.ts'
import type { ChatState } from './stage.ts'

/** Additions to the prompts of stages, by stage name. */
export type ModeNotes = Readonly<Record<string, string>>

/** By their word without `@`. */
export const MODES: Readonly<Partial<Record<ChatModelId, Readonly<Record<string, ModeNotes>>>>> = {
  'model-2': {
    agent: {
      Planner:
        'The user wants work done, not advice: plan it as actions in their order, each with what shows that it is done. Where ' +
        'something is not known, plan with the likeliest assumption and name it.',
      Executor:
        'Work as an agent: carry out the plan action by action, show the result of each, name every assumption, and end with what ' +
        'is done and what is left. You have no tools here: never claim to have done what only tools can do.',
      'Quality Evaluator': 'Every action of the plan must have been carried out, or it must be said why not.',
    },
    plan: {
      Planner: 'The plan itself is what the user wants: make it complete, with dependencies, effort and risks.',
      Executor:
        'Answer with a plan and do not carry it out: numbered steps, each with its goal, what it depends on, its effort, and how one ' +
        'sees that it is done; then the risks and the open questions.',
      'Quality Evaluator': 'It must be a plan that can be followed as it is, and must not be carried out.',
    },
    code: {
      Planner: 'The user wants a program: plan its interfaces, data, edge cases and errors before anything else.',
      Executor:
        'Answer with code: complete, ready to run, in fenced blocks that name their language, with errors and edge cases handled; ' +
        'then in a few sentences how to run it. No placeholders.',
      'Quality Evaluator': 'The code must be complete, must parse, and must handle the edge cases.',
    },
  },
  'model-3': {
    code: {
      Planner: 'Plan interfaces, data, edge cases, errors and tests before anything else.',
      Executor:
        'Answer with code: complete, ready to run, in fenced blocks that name their language and, where there are several files, ' +
        'under their paths. No placeholders.',
      Critic: 'Look for bugs, unhandled errors, races, injection and needless work first.',
      Reviewer: 'Keep the code complete, and let what is said beside it be short.',
    },
    website: {
      Planner: 'Plan a web page: its sections, their content, how it looks on a phone, and what happens on each click.',
      Executor:
        'Answer with one complete HTML file in a fenced block with the language html, styles and scripts within it, without anything ' +
        'from other servers: semantic elements, responsive, usable by keyboard, with real texts in place of fillers.',
      Critic:
        'Look for unclosed elements, missing labels, fixed widths, dead links and content from other servers first.',
      Reviewer: 'The HTML file must stay whole: from its doctype to its last tag.',
    },
    blender: {
      Planner:
        'Plan a scene for Blender: objects with their sizes in metres, materials, light, camera, and the order of operations.',
      Executor:
        'Answer with one Python script for Blender (bpy) in a fenced block with the language python, that clears the scene, builds ' +
        'everything and can be run twice; use data and bmesh rather than operators that depend on the context; name the version of ' +
        'Blender that it is for.',
      Critic:
        'Look for operators that fail without a context, removed functions of bpy, and wrong units or rotations first.',
      Reviewer: 'The script must stay whole and be one block.',
    },
    'web-design': {
      Planner:
        'Plan a design: purpose and audience, layout grid, type scale, colours with their contrast, spacing, components, motion.',
      Executor:
        'Answer as a designer: first the decisions with their reasons (layout, type, colours as hex with contrast, spacing), then the ' +
        'HTML and CSS that carry them out, with custom properties for every value of the design, in fenced blocks.',
      Critic: 'Look at contrast (WCAG 2.2 AA), hierarchy, consistency of spacing, and narrow screens first.',
      Reviewer: 'Design decisions and code must say the same.',
    },
  },
}

const MODE_CHARS_MAX = 32
/** Most words at the beginning of a question that are read as modes. */
const WORDS_MAX = 4
const SEPARATOR = '+'

/**
 * Modes are known words with `@` at the very beginning of the user's last message, in upper or lower case. They are
 * removed from all messages of the user, except from a message that has nothing else.
 */
export function withModes(model: ChatModelId): (state: ChatState) => ChatState {
  const known = MODES[model] ?? {}
  return (state) => {
    const { modes } = partedModes(state.question, known)
    const messages = state.messages.map((message) => withoutModes(message, known))
    return {
      ...state,
      messages,
      question: lastQuestion(messages),
      mode: modes.length === 0 ? null : modes.join(SEPARATOR),
    }
  }
}

/** Empty if the modes add nothing to this stage. */
export function modeNotes(model: ChatModelId, { mode }: Pick<ChatState, 'mode'>, stage: string): string {
  const notes = (mode?.split(SEPARATOR) ?? []).map((name) => MODES[model]?.[name]?.[stage])
  return notes.filter((note) => note !== undefined).join('\n')
}

/** Whether the user's last message has modes but no question. */
export function isModeAlone(model: ChatModelId, messages: readonly ChatMessage[]): boolean {
  const { modes, rest } = partedModes(lastQuestion(messages), MODES[model] ?? {})
  return modes.length > 0 && rest === ''
}

function withoutModes(message: ChatMessage, known: Readonly<Record<string, ModeNotes>>): ChatMessage {
  if (message.role !== 'user') return message
  const { content } = message
  if (typeof content === 'string') return { ...message, content: partedModes(content, known).rest || content }
  if (!Array.isArray(content)) return message
  const first = content.findIndex((part) => typeof (part as { text?: unknown } | null)?.text === 'string')
  if (first < 0) return message
  const part = content[first] as { readonly text: string }
  const { rest } = partedModes(part.text, known)
  if (rest !== '') return { ...message, content: content.with(first, { ...part, text: rest }) }
  const others = content.toSpliced(first, 1)
  return textOfMessage({ ...message, content: others }).trim() === '' ? message : { ...message, content: others }
}

/** The rest is empty if there is nothing but modes. */
function partedModes(
  text: string,
  known: Readonly<Record<string, ModeNotes>>,
): { readonly modes: readonly string[]; readonly rest: string } {
  const modes = new Set<string>()
  let rest = text.trimStart()
  for (let i = 0; i < WORDS_MAX; i++) {
    const word = /^@([a-z-]+)(?![\w-])[:,]?/i.exec(rest.slice(0, MODE_CHARS_MAX))
    const name = word?.[1]?.toLowerCase()
    if (word === null || name === undefined || !Object.hasOwn(known, name)) break
    modes.add(name)
    rest = rest.slice(word[0].length).trimStart()
  }
  return { modes: [...modes], rest: modes.size === 0 ? text : rest }
}
