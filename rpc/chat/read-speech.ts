import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ChatCall } from '../../marketplace/chat/call.ts'
import type { SpeechWish } from '../../marketplace/chat/voice/voice-platform.ts'
import { Checked, isFields, Unusable, unsupported } from './checked.ts'
import { type ReadLimits, readChatRequest } from './read-request.ts'

/** A text to be read out. */
export interface SpeechRead {
  readonly input: string
  readonly wish: SpeechWish
  /** A file with its header, or the samples alone. */
  readonly format: 'wav' | 'pcm'
}

/** A chat whose answer is to be read out. */
export interface VoiceRead {
  readonly call: Omit<ChatCall, 'model'>
  readonly wish: SpeechWish
}

const MODEL = 'model-voice'
/** OpenAI's interface has the same bound. */
const INPUT_CHARS_MAX = 4_096
const SPEEDS = { min: 0.25, max: 4 }
const VOICE_CHARS_MAX = 64

/** Reads a request for speech. Faults: `chat/*`. https://platform.openai.com/docs/api-reference/audio/createSpeech */
export function readSpeechRequest(body: unknown): Result<SpeechRead> {
  return reading(() => {
    const whole = new Checked(body, '')
    checkModel(whole.need('model'))
    if (whole.field('instructions') !== null) throw unsupported('instructions', 'voices here take none')
    if ((whole.field('stream_format')?.text() ?? 'audio') !== 'audio')
      throw unsupported('stream_format', 'speech is sent as audio')
    const format = whole.field('response_format')?.text() ?? 'wav'
    if (format !== 'wav' && format !== 'pcm') throw unsupported('response_format', 'wav and pcm are made here')
    return ok({ input: whole.need('input').text(INPUT_CHARS_MAX, 1), wish: readWish(whole), format })
  })
}

/** A chat's body with a voice. Faults: `chat/*` with `param`. */
export function readVoiceRequest(body: unknown, limits: ReadLimits): Result<VoiceRead> {
  return reading(() => {
    const whole = new Checked(body, '')
    const model = whole.field('model')
    if (model !== null) checkModel(model)
    const wish = readWish(whole)
    const chat = readChatRequest(isFields(body) ? { ...body, model: 'model-2' } : body, limits)
    if (!chat.ok) return chat
    const { call, streams } = chat.value
    if (streams) throw unsupported('stream', 'an answer that is read out comes whole')
    if (call.usesTools) throw unsupported('tools', 'an answer that is read out uses none')
    if (call.form.is !== 'text') throw unsupported('response_format', 'an answer that is read out is text')
    return ok({ call, wish })
  })
}

function readWish(whole: Checked): SpeechWish {
  const voice = whole.field('voice')
  return {
    // OpenAI's clients name custom voices in an object with an id.
    voice: voice === null ? null : (isFields(voice.value) ? voice.need('id') : voice).text(VOICE_CHARS_MAX, 1),
    speed: whole.field('speed')?.number(SPEEDS.min, SPEEDS.max) ?? 1,
  }
}

function checkModel(place: Checked): void {
  const model = place.text(200, 1)
  if (model !== MODEL) throw new Unusable(fault('chat/model-not-found', { param: 'model', model, models: MODEL }))
}

function reading<T>(read: () => Result<T>): Result<T> {
  try {
    return read()
  } catch (error) {
    if (error instanceof Unusable) return fail(error.fault)
    throw error
  }
}
