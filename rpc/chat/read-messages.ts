import type { ChatMessage } from '../../marketplace/chat/models/backend.ts'
import { type Checked, unsupported, unusable } from './checked.ts'

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const
const MESSAGES_MAX = 2_048
const PARTS_MAX = 256
const TOOL_CALLS_MAX = 128
const NAME_CHARS_MAX = 256
const DETAIL_CHARS_MAX = 16

/** The messages of a chat, each with every field that came; those of a developer are of the system. `vision` says whether pictures may be among them. */
export function readMessages(place: Checked, vision: boolean): readonly ChatMessage[] {
  return place.list(1, MESSAGES_MAX).map((message) => readMessage(message, vision))
}

function readMessage(message: Checked, vision: boolean): ChatMessage {
  const role = message.need('role').word(ROLES)
  const content = message.field('content')
  const calls = role === 'assistant' ? message.field('tool_calls') : null
  message.field('name')?.text(NAME_CHARS_MAX)
  message.field('tool_call_id')?.text(NAME_CHARS_MAX)
  if (role === 'tool') message.need('tool_call_id').text(NAME_CHARS_MAX, 1)
  if (calls !== null) for (const call of calls.list(1, TOOL_CALLS_MAX)) checkToolCall(call)
  if (content !== null) checkContent(content, vision && role === 'user')
  else if (calls === null && message.field('refusal') === null)
    throw unusable(`${message.param}.content`, 'it is missing; null is for messages with tool_calls')
  // The newer name of the same: OpenAI's own models take both, most other servers and their templates only the older one.
  return { ...message.fields(), role: role === 'developer' ? 'system' : role }
}

function checkToolCall(call: Checked): void {
  call.need('id').text(NAME_CHARS_MAX, 1)
  const called = call.field('function')
  called?.need('name').text(NAME_CHARS_MAX, 1)
  called?.field('arguments')?.text()
}

function checkContent(content: Checked, vision: boolean): void {
  if (typeof content.value === 'string') return
  for (const part of content.list(1, PARTS_MAX)) checkPart(part, vision)
}

function checkPart(part: Checked, vision: boolean): void {
  const type = part.need('type').text(40)
  // Some servers take whatever has it for a picture.
  if (type !== 'image_url' && part.field('image_url') !== null)
    throw unsupported(`${part.param}.image_url`, 'it is for parts of the type image_url')
  part.field('image_url')?.field('detail')?.text(DETAIL_CHARS_MAX)
  if (type === 'text') part.need('text').text()
  else if (type === 'refusal') part.need('refusal').text()
  else if (type === 'image_url' && vision) part.need('image_url').need('url').text(undefined, 1)
  else if (type === 'image_url') throw unsupported(part.param, 'pictures are for messages of the user to model-4')
  else throw unsupported(part.param, `parts of the type ${type} are not taken, text and (model-4) image_url are`)
}

/** Whether a message belongs to the use of tools. */
export function isOfTools(message: ChatMessage): boolean {
  return message.role === 'tool' || (Array.isArray(message.tool_calls) && message.tool_calls.length > 0)
}
