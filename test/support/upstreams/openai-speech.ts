import type { ServerResponse } from 'node:http'
import { type SoundFormat, VOICE_FORMAT, wavHeader } from '../../../marketplace/chat/voice/wav.ts'

/** Everything that the server can do with a text to be spoken. */
export const SPEECH_PROFILES = [
  'ok',
  '429',
  '400',
  '500',
  'cut',
  'hang',
  'not-wav',
  'json',
  'empty',
  'low-rate',
  'stereo',
  'other-rate',
  'placeholder',
  'short',
  'huge',
] as const

/** One of {@link SPEECH_PROFILES}. `answerSpeech` shows what each does. */
export type SpeechProfile = (typeof SPEECH_PROFILES)[number]

export const SAMPLES_PER_CHARACTER = 24
const HUGE_BYTES = 17 * 1_048_576
const PLACEHOLDER = 0xffff_ffff
const LOW: SoundFormat = { ...VOICE_FORMAT, rate: 22_050 }
const OTHER: SoundFormat = { ...VOICE_FORMAT, rate: 8_000 }
const STEREO: SoundFormat = { ...VOICE_FORMAT, channels: 2 }

/** The sound of a text: its samples are the codes of its characters. */
export function soundOf(text: string): Int16Array {
  return Int16Array.from({ length: text.length * SAMPLES_PER_CHARACTER }, (_, i) =>
    text.charCodeAt(Math.floor(i / SAMPLES_PER_CHARACTER)),
  )
}

/** Answers a request for speech (https://platform.openai.com/docs/api-reference/audio/createSpeech). */
export function answerSpeech(profile: SpeechProfile, text: string, response: ServerResponse, retryAfter: string): void {
  if (profile === 'hang') return
  if (profile === '429') json(response, 429, { 'retry-after': retryAfter })
  else if (profile === '400' || profile === '500') json(response, Number(profile))
  else if (profile === 'json') json(response, 200)
  else if (profile === 'not-wav') send(response, Buffer.from('ID3\u0004 not what was asked for'))
  else if (profile === 'huge') send(response, Buffer.concat([fileOf('', VOICE_FORMAT), Buffer.alloc(HUGE_BYTES)]))
  else if (profile === 'cut') sendHalf(response, fileFor(profile, text))
  else send(response, fileFor(profile, text))
}

function fileFor(profile: SpeechProfile, text: string): Buffer {
  const format = { 'low-rate': LOW, 'other-rate': OTHER, stereo: STEREO }[profile as string] ?? VOICE_FORMAT
  const file = fileOf(profile === 'empty' ? '' : text, format)
  if (profile === 'placeholder') {
    file.writeUInt32LE(PLACEHOLDER, 4)
    file.writeUInt32LE(PLACEHOLDER, 40)
  }
  return profile === 'short' ? file.subarray(0, file.length - 100) : file
}

function fileOf(text: string, format: SoundFormat): Buffer {
  const sound = soundOf(text)
  const samples = format.channels === 1 ? [...sound] : [...sound].flatMap((sample) => [sample, sample])
  const data = Buffer.alloc(samples.length * 2)
  for (const [i, sample] of samples.entries()) data.writeInt16LE(sample, 2 * i)
  return Buffer.concat([wavHeader(data.length, format), data])
}

function sendHalf(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'content-type': 'audio/wav', 'content-length': bytes.length })
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy())
}

function send(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'content-type': 'audio/wav' }).end(bytes)
}

function json(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  const body = JSON.stringify({ error: { message: 'no speech today' } })
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
