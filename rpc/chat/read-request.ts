import { fault } from '../../consensus/primitives/fault.ts'
import { isDeeperThan } from '../../consensus/primitives/nesting.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { type AnswerForm, CHAT_MODEL_IDS, type ChatCall, type ChatModelId } from '../../marketplace/chat/call.ts'
import type { AnswerSchema, ChatMessage } from '../../marketplace/chat/models/backend.ts'
import { isModeAlone } from '../../marketplace/chat/modes.ts'
import { checkImages } from '../../marketplace/chat/vision/image-parts.ts'
import { Checked, type Fields, Unusable, unsupported, unusable } from './checked.ts'

/** A chat request that was read and checked. */
export interface ChatRequest {
  readonly call: ChatCall
  readonly streams: boolean
  /** Whether a stream ends with an event that holds the usage. */
  readonly tellsUsage: boolean
}

const COUNT_MAX = 8
const STOPS_MAX = 16
const STOP_CHARS_MAX = 256
const CHOICE_CHARS_MAX = 16_384
/** Entries of `logit_bias`; OpenAI's service has the same bound. */
const BIASES_MAX = 1_024
const TOOLS_MAX = 128
const NAME_CHARS_MAX = 64
const DESCRIPTION_CHARS_MAX = 4_096
const TOKENS_MAX = 10_000_000
const SCHEMA_CHARS_MAX = 65_536
const LEVELS_MAX = 128
const VOICE_PATHS = ['/api/v1/voice', '/api/v1/audio/speech']

/** What the reading of a request needs besides its body. */
export interface ReadLimits {
  readonly tokensMax: number
  /** Whether the caller wants a model to continue the answer if its stream breaks off. */
  readonly resumes: boolean
}

/**
 * Reads a chat request (https://platform.openai.com/docs/api-reference/chat/create). Unknown fields are ignored.
 * Faults: `chat/*` with `param`.
 */
export function readChatRequest(body: unknown, { tokensMax, resumes }: ReadLimits): Result<ChatRequest> {
  try {
    const whole = new Checked(body, '')
    // `JSON.stringify` throws on values that are nested too deep.
    if (isDeeperThan(LEVELS_MAX, body)) throw unusable('body', `it has more than ${LEVELS_MAX} levels`)
    const model = readModel(whole.need('model'))
    const streams = whole.field('stream')?.flag() ?? false
    const options = whole.field('stream_options')
    const tellsUsage = options?.field('include_usage')?.flag() ?? false
    if (options !== null && !streams) throw unusable('stream_options', 'it is for streams')
    return ok({ call: readCall(whole, model, { tokensMax, resumes }), streams, tellsUsage })
  } catch (error) {
    if (error instanceof Unusable) return fail(error.fault)
    throw error
  }
}

function readModel(place: Checked): ChatModelId {
  const named = place.text(200, 1)
  const model = CHAT_MODEL_IDS.find((id) => id === named)
  const models = CHAT_MODEL_IDS.join(', ')
  if (named === 'model-voice')
    throw new Unusable(
      fault('chat/model-elsewhere', { param: 'model', model: named, paths: VOICE_PATHS.join(' and '), models }),
    )
  if (model === undefined) throw new Unusable(fault('chat/model-not-found', { param: 'model', model: named, models }))
  return model
}

function readCall(whole: Checked, model: ChatModelId, { tokensMax, resumes }: ReadLimits): ChatCall {
  refuseForeign(whole)
  const messages = readMessages(whole.need('messages'), model === 'model-4')
  const imagesFault = checkImages(messages)
  if (imagesFault !== null) throw new Unusable(imagesFault)
  const tools = readTools(whole)
  const usesTools = Object.keys(tools).length > 0 || messages.some(isOfTools)
  const wanted = (whole.field('max_completion_tokens') ?? whole.field('max_tokens'))?.integer(1, TOKENS_MAX)
  const single = readSingle(whole)
  const form = readForm(whole.field('response_format'))
  const isSingle = model === 'model-1' || usesTools || form.is !== 'text'
  const [first] = Object.keys(single)
  if (!isSingle && first !== undefined)
    throw unsupported(
      first,
      `${model} asks several models; it is for model-1, and for requests with tools or a response_format`,
    )
  // A request for a single model has no modes, so a mode's word is plain text there.
  if (!isSingle && isModeAlone(model, messages)) throw unusable('messages', 'a mode needs a question behind it')
  const { n = 1, ...passed } = single as { readonly n?: number }
  return {
    model,
    messages,
    maxTokens: Math.min(wanted ?? tokensMax, tokensMax),
    temperature: whole.field('temperature')?.number(0, 2) ?? null,
    form,
    usesTools,
    count: n,
    extra: { ...tools, ...readStyle(whole), ...passed },
    resumes,
  }
}

/** Refuses fields that would lead to a wrong answer if they were ignored. */
function refuseForeign(whole: Checked): void {
  for (const name of ['functions', 'function_call'])
    if (whole.field(name) !== null) throw unsupported(name, 'tools and tool_choice have taken its place')
  if (whole.field('audio') !== null) throw unsupported('audio', `speech is at ${VOICE_PATHS.join(' and ')}`)
  const modalities = whole.field('modalities')?.list(0, 8) ?? []
  if (modalities.some(({ value }) => value !== 'text')) throw unsupported('modalities', 'answers are text')
}

function readTools(whole: Checked): Fields {
  const tools = whole.field('tools')?.list(0, TOOLS_MAX) ?? []
  for (const tool of tools) tool.need('function').need('name').text(NAME_CHARS_MAX, 1)
  if (tools.length === 0) return {}
  const choice = whole.field('tool_choice')
  if (choice !== null && JSON.stringify(choice.value).length > CHOICE_CHARS_MAX)
    throw unusable('tool_choice', `it must have at most ${CHOICE_CHARS_MAX} characters`)
  const parallel = whole.field('parallel_tool_calls')?.flag()
  return {
    tools: whole.fields().tools,
    ...(choice !== null && { tool_choice: choice.value }),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
  }
}

/** Sampling settings. */
function readStyle(whole: Checked): Fields {
  const topP = whole.field('top_p')?.number(0, 1)
  const presence = whole.field('presence_penalty')?.number(-2, 2)
  const frequency = whole.field('frequency_penalty')?.number(-2, 2)
  const stop = whole.field('stop')
  if (stop !== null && typeof stop.value === 'string') stop.text(STOP_CHARS_MAX)
  else for (const one of stop?.list(0, STOPS_MAX) ?? []) one.text(STOP_CHARS_MAX, 1)
  return {
    ...(topP !== undefined && { top_p: topP }),
    ...(presence !== undefined && { presence_penalty: presence }),
    ...(frequency !== undefined && { frequency_penalty: frequency }),
    ...(stop !== null && { stop: stop.value }),
  }
}

/** Settings for requests that a single model answers. */
function readSingle(whole: Checked): Fields {
  const n = whole.field('n')?.integer(1, COUNT_MAX) ?? 1
  const logprobs = whole.field('logprobs')?.flag() ?? false
  const topLogprobs = whole.field('top_logprobs')?.integer(0, 20)
  const seed = whole.field('seed')?.integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
  const bias = readBias(whole.field('logit_bias'))
  return {
    ...(n > 1 && { n }),
    ...(logprobs && { logprobs }),
    ...(topLogprobs !== undefined && { top_logprobs: topLogprobs }),
    ...(seed !== undefined && { seed }),
    ...(Object.keys(bias).length > 0 && { logit_bias: bias }),
  }
}

function readBias(place: Checked | null): Fields {
  const bias = place?.fields() ?? {}
  const values = Object.values(bias)
  if (values.length > BIASES_MAX) throw unusable('logit_bias', `it must have at most ${BIASES_MAX} entries`)
  if (Object.keys(bias).some((token) => !/^\d{1,9}$/.test(token)))
    throw unusable('logit_bias', 'its names must be the numbers of tokens')
  // The fault names `logit_bias` alone: the names in it are the caller's text.
  for (const value of values) new Checked(value, 'logit_bias').number(-100, 100)
  return bias
}

function readForm(place: Checked | null): AnswerForm {
  const type = place?.need('type').word(['text', 'json_object', 'json_schema'] as const) ?? 'text'
  if (place === null || type === 'text') return { is: 'text' }
  return type === 'json_object' ? { is: 'json' } : { is: 'schema', schema: readSchema(place.need('json_schema')) }
}

function readSchema(place: Checked): AnswerSchema {
  const name = place.need('name').text(NAME_CHARS_MAX, 1)
  const schema = place.need('schema').fields()
  if (JSON.stringify(schema).length > SCHEMA_CHARS_MAX)
    throw unusable('response_format.json_schema.schema', `it must have at most ${SCHEMA_CHARS_MAX} characters`)
  const description = place.field('description')?.text(DESCRIPTION_CHARS_MAX, 0)
  const strict = place.field('strict')?.flag() ?? false
  return { name, schema, strict, ...(description !== undefined && { description }) }
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const
const MESSAGES_MAX = 2_048
const PARTS_MAX = 256
const TOOL_CALLS_MAX = 128
const CALLED_CHARS_MAX = 256
const DETAIL_CHARS_MAX = 16

/** The messages with all their fields. Pictures need `vision`. */
function readMessages(place: Checked, vision: boolean): readonly ChatMessage[] {
  return place.list(1, MESSAGES_MAX).map((message) => readMessage(message, vision))
}

function readMessage(message: Checked, vision: boolean): ChatMessage {
  const role = message.need('role').word(ROLES)
  const content = message.field('content')
  const calls = role === 'assistant' ? message.field('tool_calls') : null
  message.field('name')?.text(CALLED_CHARS_MAX)
  message.field('tool_call_id')?.text(CALLED_CHARS_MAX)
  if (role === 'tool') message.need('tool_call_id').text(CALLED_CHARS_MAX, 1)
  if (calls !== null) for (const call of calls.list(1, TOOL_CALLS_MAX)) checkToolCall(call)
  if (content !== null) checkContent(content, vision && role === 'user')
  else if (calls === null && message.field('refusal') === null)
    throw unusable(`${message.param}.content`, 'it is missing; null is for messages with tool_calls')
  // `developer` is the newer name of `system`. OpenAI's own models take both names; most other servers and their
  // templates take only `system`.
  return { ...message.fields(), role: role === 'developer' ? 'system' : role }
}

function checkToolCall(call: Checked): void {
  call.need('id').text(CALLED_CHARS_MAX, 1)
  const called = call.field('function')
  called?.need('name').text(CALLED_CHARS_MAX, 1)
  called?.field('arguments')?.text()
}

function checkContent(content: Checked, vision: boolean): void {
  if (typeof content.value === 'string') return
  for (const part of content.list(1, PARTS_MAX)) checkPart(part, vision)
}

function checkPart(part: Checked, vision: boolean): void {
  const type = part.need('type').text(40)
  // Some servers treat any part with an `image_url` as a picture.
  if (type !== 'image_url' && part.field('image_url') !== null)
    throw unsupported(`${part.param}.image_url`, 'it is for parts of the type image_url')
  part.field('image_url')?.field('detail')?.text(DETAIL_CHARS_MAX)
  if (type === 'text') part.need('text').text()
  else if (type === 'refusal') part.need('refusal').text()
  else if (type === 'image_url' && vision) part.need('image_url').need('url').text(undefined, 1)
  else if (type === 'image_url') throw unsupported(part.param, 'pictures are for messages of the user to model-4')
  else throw unsupported(part.param, `parts of the type ${type} are not taken, text and (model-4) image_url are`)
}

function isOfTools(message: ChatMessage): boolean {
  return message.role === 'tool' || (Array.isArray(message.tool_calls) && message.tool_calls.length > 0)
}
