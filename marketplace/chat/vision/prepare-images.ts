import { fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { FreePlaces } from '../../ports/free-places.ts'
import { VISION_BYTES_MAX, VISION_SIDE_MAX } from '../../ports/image-tasks.ts'
import type { ChatMessage } from '../models/backend.ts'
import type { ChatMeans } from '../stage.ts'
import {
  base64Of,
  checkImages,
  IMAGE_BYTES_MAX,
  type ImagePart,
  imageOf,
  imagePartsOf,
  isDataUrl,
  unusableImage,
} from './image-parts.ts'

/** Most bytes of all re-encoded images of a chat, counted for each question that carries them. */
export const IMAGES_BYTES_MAX = 6_000_000
/** Side in pixels of an image in low detail. */
const LOW_SIDE_MAX = 512

/** What is needed to read and re-encode images. */
export interface ImageMeans extends Pick<ChatMeans, 'web' | 'engines'> {
  /** Bounds the images read at once: paid services use the same web client and engines. */
  readonly pictures: FreePlaces
  readonly who: string
  /** Number of questions that carry the images. */
  readonly count: number
}

const ACCEPT = 'image/png, image/jpeg, image/webp, image/gif'

/**
 * Re-encodes every image as PNG or JPEG in a data URL. So backends receive only pixels that were read here, and fetch
 * nothing. Faults: `chat/invalid-request` for the unusable image, `engine/failed`.
 */
export async function prepareImages(
  messages: readonly ChatMessage[],
  means: ImageMeans,
  signal: AbortSignal,
): Promise<Result<readonly ChatMessage[]>> {
  const trouble = checkImages(messages)
  if (trouble !== null) return fail(trouble)
  const parts = imagePartsOf(messages)
  const bytesMax = Math.min(VISION_BYTES_MAX, Math.floor(IMAGES_BYTES_MAX / (parts.length * means.count)))
  const urls = new Map<string, string>()
  // An image that occurs several times is read once.
  const made = await Promise.all(
    [...new Map(parts.map((part) => [nameOf(part), part])).values()].map(async (part) => {
      const url = await inTurn(part, means, signal, () => writtenAnew(part, { ...means, bytesMax }, signal))
      if (url.ok) urls.set(nameOf(part), url.value)
      return url
    }),
  )
  // After an abort, failures prove nothing about the images.
  if (signal.aborted) return fail(fault('model/timeout', { backend: 'the images' }))
  const failed = made.find((one) => !one.ok)
  if (failed !== undefined && !failed.ok) return failed
  return ok(messages.map((message) => withUrls(message, urls)))
}

function nameOf({ url, isLow }: Pick<ImagePart, 'url' | 'isLow'>): string {
  return `${isLow ? 'low' : 'usual'} ${url}`
}

/** A slot is held from the first byte of an image to its new data URL. */
async function inTurn<T>(
  part: ImagePart,
  { web, pictures, who }: ImageMeans,
  signal: AbortSignal,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  const url = isDataUrl(part.url) ? null : web.check(part.url)
  if (url?.ok === false) return fail(unusableImage(part, faultMessage(url.fault)))
  const done = await pictures.run({ who, what: url?.value.host ?? `data of ${who}`, signal }, work)
  return done ?? fail(fault('model/timeout', { backend: 'the images' }))
}

async function writtenAnew(
  part: ImagePart,
  { bytesMax, ...means }: ImageMeans & { readonly bytesMax: number },
  signal: AbortSignal,
): Promise<Result<string>> {
  const bytes = isDataUrl(part.url) ? bytesOf(part) : await bytesAt(part, means, signal)
  if (!bytes.ok) return bytes
  if (bytes.value.length > IMAGE_BYTES_MAX)
    return fail(unusableImage(part, `it is larger than ${IMAGE_BYTES_MAX} bytes`))
  const sideMax = part.isLow ? LOW_SIDE_MAX : VISION_SIDE_MAX
  const written = await means.engines.run('image/vision', { bytes: bytes.value, bytesMax, sideMax }, signal)
  if (written.ok) return ok(`data:${written.value.mediaType};base64,${written.value.bytes.toBase64()}`)
  if (written.fault.code === 'engine/failed') return written
  return fail(unusableImage(part, faultMessage(written.fault)))
}

function bytesOf(part: ImagePart): Result<Uint8Array> {
  try {
    return ok(Uint8Array.fromBase64(base64Of(part.url) ?? ''))
  } catch {
    return fail(unusableImage(part, 'its data is no Base64'))
  }
}

async function bytesAt(part: ImagePart, { web }: ImageMeans, signal: AbortSignal): Promise<Result<Uint8Array>> {
  const url = web.check(part.url)
  if (!url.ok) return fail(unusableImage(part, faultMessage(url.fault)))
  const request = { accept: ACCEPT, bytesMax: IMAGE_BYTES_MAX, tooLong: 'fail' } as const
  const page = await web.read(url.value, request, signal)
  if (!page.ok) return fail(unusableImage(part, faultMessage(page.fault)))
  const { status, body } = page.value
  return status === 200 ? ok(body) : fail(unusableImage(part, `its address answers with status ${status}`))
}

function withUrls(message: ChatMessage, urls: ReadonlyMap<string, string>): ChatMessage {
  const { content } = message
  if (!Array.isArray(content)) return message
  return { ...message, content: content.map((part: unknown) => withUrl(part, urls)) }
}

function withUrl(part: unknown, urls: ReadonlyMap<string, string>): unknown {
  const image = imageOf(part)
  const url = image === null ? undefined : urls.get(nameOf(image))
  if (url === undefined) return part
  return { ...(part as object), image_url: { ...(part as { readonly image_url: object }).image_url, url } }
}
