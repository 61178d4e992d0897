import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Heard } from '../../../marketplace/chat/models/backend.ts'
import { bytesOf } from '../../adapters/bounded-fetch.ts'
import { OF_QUESTION, unusableAnswer } from './chat-answer.ts'
import type { ServerAnswer } from './model-server.ts'

/** Almost six minutes at 24 kHz and 16 bit. A thousand characters take little more than a minute. */
const SPEECH_BYTES_MAX = 16 * 1_048_576
const RIFF = [0x52, 0x49, 0x46, 0x46] as const

/** Faults: `model/cut`, `model/answer`. */
export async function readSpeech(
  backend: string,
  response: Pick<ServerAnswer, 'body'>,
  heard?: Heard,
): Promise<Result<Uint8Array>> {
  let bytes: Uint8Array | null
  try {
    bytes = await bytesOf(response, SPEECH_BYTES_MAX, heard)
  } catch {
    return fail(fault('model/cut', { backend }))
  }
  // A slow voice reading digits can exceed the limit. All of it was spoken, so it is charged.
  if (bytes === null)
    return unusableAnswer(backend, `its speech is longer than ${SPEECH_BYTES_MAX} bytes`, {
      ...OF_QUESTION,
      isSpoken: true,
    })
  return RIFF.every((byte, i) => bytes[i] === byte) ? ok(bytes) : unusableAnswer(backend, 'it is no WAV file')
}
