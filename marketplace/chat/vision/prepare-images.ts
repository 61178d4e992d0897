import { fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatMessage } from '../../models/backend.ts'
import type { FreePlaces } from '../../outside/free-places.ts'
import type { ChatMeans } from '../stage.ts'
import {
  base64Of,
  checkImages,
  IMAGE_BYTES_MAX,
  type ImagePart,
  imagePartsOf,
  isDataUrl,
  unusableImage,
} from './image-parts.ts'

/** What images are read with. */
export interface ImageMeans extends Pick<ChatMeans, 'web' | 'engines'> {
  /** Places for reading images of strangers: the web is there for what is paid as well. */
  readonly pictures: FreePlaces
  readonly who: string
}

const ACCEPT = 'image/png, image/jpeg, image/webp, image/gif'

/**
 * The conversation with every image written anew by an engine, as PNG or JPEG in a data URL: what a model's backend is given was
 * read here, holds nothing but pixels, and makes it fetch nothing. Faults: `chat/invalid-request` for the image that is to blame,
 * `engine/failed`.
 */
export async function prepareImages(
  messages: readonly ChatMessage[],
  means: ImageMeans,
  signal: AbortSignal,
): Promise<Result<readonly ChatMessage[]>> {
  const trouble = checkImages(messages)
  if (trouble !== null) return fail(trouble)
  const parts = imagePartsOf(messages)
  const urls = new Map<string, string>()
  // Each that is wanted more than once is read once.
  const made = await Promise.all(
    [...new Map(parts.map((part) => [part.url, part])).values()].map(async (part) => {
      const url = await writtenAnew(part, means, signal)
      if (url.ok) urls.set(part.url, url.value)
      return url
    }),
  )
  // What was given up says nothing of the image.
  if (signal.aborted) return fail(fault('model/timeout', { backend: 'the images' }))
  const failed = made.find((one) => !one.ok)
  if (failed !== undefined && !failed.ok) return failed
  return ok(messages.map((message) => withUrls(message, urls)))
}

async function writtenAnew(part: ImagePart, means: ImageMeans, signal: AbortSignal): Promise<Result<string>> {
  const bytes = isDataUrl(part.url) ? bytesOf(part) : await bytesAt(part, means, signal)
  if (!bytes.ok) return bytes
  if (bytes.value.length > IMAGE_BYTES_MAX)
    return fail(unusableImage(part, `it is larger than ${IMAGE_BYTES_MAX} bytes`))
  const written = await means.engines.run('image/vision', { bytes: bytes.value }, signal)
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

async function bytesAt(
  part: ImagePart,
  { web, pictures, who }: ImageMeans,
  signal: AbortSignal,
): Promise<Result<Uint8Array>> {
  const url = web.check(part.url)
  if (!url.ok) return fail(unusableImage(part, faultMessage(url.fault)))
  const request = { accept: ACCEPT, bytesMax: IMAGE_BYTES_MAX, tooLong: 'fail' } as const
  const page = await pictures.run({ who, what: url.value.host, signal }, () => web.read(url.value, request, signal))
  if (page === null) return fail(fault('model/timeout', { backend: 'the images' }))
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
  const { type, image_url } = (part ?? {}) as { readonly type?: unknown; readonly image_url?: { readonly url: string } }
  const url = type === 'image_url' ? urls.get(image_url?.url ?? '') : undefined
  return url === undefined ? part : { ...(part as object), image_url: { ...image_url, url } }
}
