import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { type ChatModels, canAnswer } from '../desk.ts'
import type { ChatMessage } from '../models/backend.ts'

/** Includes the images of older turns. */
export const IMAGES_MAX = 8
/** As received. */
export const IMAGE_BYTES_MAX = 8 * 1_024 * 1_024
const DATA_HEAD_CHARS_MAX = 200
const URL_CHARS_MAX = 4_096

/** An image of a conversation. */
export interface ImagePart {
  /** `part` is the index in the content of the message. */
  readonly message: number
  readonly part: number
  /** The position as an API field path. */
  readonly param: string
  readonly url: string
  readonly isLow: boolean
}

/** Images of a conversation, in order. */
export function imagePartsOf(messages: readonly ChatMessage[]): readonly ImagePart[] {
  return messages.flatMap(({ content }, message) => {
    if (!Array.isArray(content)) return []
    return content.flatMap((value: unknown, part) => {
      const image = imageOf(value)
      const param = `messages[${message}].content[${part}].image_url.url`
      return image === null ? [] : [{ message, part, param, ...image }]
    })
  })
}

/** Whether a conversation has images. */
export function hasImages(messages: readonly ChatMessage[]): boolean {
  return messages.some(bearsImage)
}

/** Whether a message has an image. */
export function bearsImage({ content }: ChatMessage): boolean {
  return Array.isArray(content) && content.some((part) => imageOf(part) !== null)
}

/**
 * Checks images without reading them: too many, too large, or an address that is neither `data:...;base64,` nor
 * `https:`. The fault is `chat/invalid-request` with the image as `param`.
 */
export function checkImages(messages: readonly ChatMessage[]): Fault | null {
  const parts = imagePartsOf(messages)
  const beyond = parts[IMAGES_MAX]
  if (beyond !== undefined) return unusableImage(beyond, `there are more than ${IMAGES_MAX} images in the conversation`)
  for (const part of parts) {
    const reason = isDataUrl(part.url) ? troubleOfData(part.url) : troubleOfAddress(part.url)
    if (reason !== null) return unusableImage(part, reason)
  }
  return null
}

/** The fault for an unusable image. */
export function unusableImage({ param }: ImagePart, reason: string): Fault {
  return fault('chat/invalid-request', { param, reason })
}

/** Whether an address is a data URL. */
export function isDataUrl(url: string): boolean {
  return url.slice(0, 5).toLowerCase() === 'data:'
}

/** Null if the data is not base64. The media type is ignored. */
export function base64Of(url: string): string | null {
  const comma = url.slice(0, DATA_HEAD_CHARS_MAX).indexOf(',')
  if (comma < 0 || !url.slice(0, comma).toLowerCase().endsWith(';base64')) return null
  return url.slice(comma + 1)
}

/** Whether any model supports images. */
export function someoneSees({ facts }: Pick<ChatModels, 'facts'>): boolean {
  return facts.some(({ models }) => models.some((model) => canAnswer(model, ['vision'])))
}

/** Null if the part is no image. */
export function imageOf(part: unknown): Pick<ImagePart, 'url' | 'isLow'> | null {
  const { type, image_url } = (part ?? {}) as { readonly type?: unknown; readonly image_url?: unknown }
  if (type !== 'image_url') return null
  const { url, detail } = (image_url ?? {}) as { readonly url?: unknown; readonly detail?: unknown }
  return { url: typeof url === 'string' ? url : '', isLow: detail === 'low' }
}

function troubleOfData(url: string): string | null {
  const data = base64Of(url)
  if (data === null) return 'a data URL must hold its image in Base64 (data:image/png;base64,...)'
  // Four characters for three bytes, with room for some line breaks.
  if (data.length > Math.ceil(IMAGE_BYTES_MAX / 3) * 4 + 4_096) return `it is larger than ${IMAGE_BYTES_MAX} bytes`
  return null
}

function troubleOfAddress(url: string): string | null {
  if (url.length > URL_CHARS_MAX) return `its address has more than ${URL_CHARS_MAX} characters`
  return url.slice(0, 8).toLowerCase() === 'https://' ? null : 'it must be a data URL or an address with https://'
}
