import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { type ChatModels, canAnswer } from '../desk.ts'
import type { ChatMessage } from '../models/backend.ts'

/** Images of one conversation at most, those of older turns counted. */
export const IMAGES_MAX = 8
/** Bytes of one image as it comes at most. */
export const IMAGE_BYTES_MAX = 8 * 1_024 * 1_024
/** Characters before the data of a data URL; what is longer has something else in mind. */
const DATA_HEAD_CHARS_MAX = 200
const URL_CHARS_MAX = 4_096

/** An image of a conversation. */
export interface ImagePart {
  /** Place in the conversation: index of the message, and of the part in its content. */
  readonly message: number
  readonly part: number
  /** The same as a request calls it. */
  readonly param: string
  readonly url: string
  /** Whether it is asked for in low detail. */
  readonly isLow: boolean
}

/** Images of a conversation in their order. */
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

/** Whether there are images in a conversation. */
export function hasImages(messages: readonly ChatMessage[]): boolean {
  return messages.some(bearsImage)
}

/** Whether there is an image in a message. */
export function bearsImage({ content }: ChatMessage): boolean {
  return Array.isArray(content) && content.some((part) => imageOf(part) !== null)
}

/**
 * What is wrong with the images of a conversation, as far as can be told without reading them: too many, too large, or an address
 * of another kind than `data:...;base64,` and `https:`. Null where nothing is. The fault is `chat/invalid-request`, its `param` the
 * image.
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

/** The fault of an image that cannot be used. */
export function unusableImage({ param }: ImagePart, reason: string): Fault {
  return fault('chat/invalid-request', { param, reason })
}

/** Whether an address holds its data itself. */
export function isDataUrl(url: string): boolean {
  return url.slice(0, 5).toLowerCase() === 'data:'
}

/** Base64 text of a data URL; null where it is none in Base64. What type it names is not looked at. */
export function base64Of(url: string): string | null {
  const comma = url.slice(0, DATA_HEAD_CHARS_MAX).indexOf(',')
  if (comma < 0 || !url.slice(0, comma).toLowerCase().endsWith(';base64')) return null
  return url.slice(comma + 1)
}

/** Whether there is a model that may be asked about images. */
export function someoneSees({ facts }: Pick<ChatModels, 'facts'>): boolean {
  return facts.some(({ models }) => models.some((model) => canAnswer(model, ['vision'])))
}

/** The image of a part of a message; null where it is none. */
export function imageOf(part: unknown): Pick<ImagePart, 'url' | 'isLow'> | null {
  const { type, image_url } = (part ?? {}) as { readonly type?: unknown; readonly image_url?: unknown }
  if (type !== 'image_url') return null
  const { url, detail } = (image_url ?? {}) as { readonly url?: unknown; readonly detail?: unknown }
  return { url: typeof url === 'string' ? url : '', isLow: detail === 'low' }
}

function troubleOfData(url: string): string | null {
  const data = base64Of(url)
  if (data === null) return 'a data URL must hold its image in Base64 (data:image/png;base64,...)'
  // Four characters for three bytes; a line break now and then is bearable.
  if (data.length > Math.ceil(IMAGE_BYTES_MAX / 3) * 4 + 4_096) return `it is larger than ${IMAGE_BYTES_MAX} bytes`
  return null
}

function troubleOfAddress(url: string): string | null {
  if (url.length > URL_CHARS_MAX) return `its address has more than ${URL_CHARS_MAX} characters`
  return url.slice(0, 8).toLowerCase() === 'https://' ? null : 'it must be a data URL or an address with https://'
}
