import sharp, { type Sharp } from 'sharp'
import type { VisionImage, VisionWish } from '../../../marketplace/ports/image-tasks.ts'
import { EngineRefusal } from '../refusal.ts'

/** Small files can hold enormous pictures. */
const PIXELS_MAX = 40_000_000
/** A larger PNG is taken for a photograph and becomes a JPEG. */
const PNG_BYTES_MAX = 1_500_000
const QUALITIES = [85, 60, 30]
/** A picture that is still too large is halved, down to this side length. */
const SIDE_MIN = 128

type Format = 'png' | 'jpeg' | 'webp' | 'gif'

/** First bytes by the specification of each format. Null matches any byte. */
const SIGNATURES: Readonly<Record<Format, readonly (number | null)[]>> = {
  png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  jpeg: [0xff, 0xd8, 0xff],
  webp: [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50],
  gif: [0x47, 0x49, 0x46, 0x38, null, 0x61],
}

sharp.concurrency(1)
sharp.cache(false)

/**
 * Re-encodes an untrusted picture: its first frame, upright, without metadata. Only PNG, JPEG, WebP and GIF reach the
 * library: vector graphics can reference files on this machine.
 */
export async function visionImage({ bytes, bytesMax, sideMax }: VisionWish): Promise<VisionImage> {
  const format = formatOf(bytes)
  if (format === null) throw new EngineRefusal('it is no PNG, JPEG, WebP or GIF')
  try {
    const picture = sharp(bytes, { limitInputPixels: PIXELS_MAX, failOn: 'truncated' })
    return await written(picture.rotate().resize(within(sideMax)).toColourspace('srgb'), { format, bytesMax })
  } catch (error) {
    if (error instanceof EngineRefusal) throw error
    // The library's messages name its own functions.
    throw new EngineRefusal('it cannot be read as a picture, or is too large a one')
  }
}

function formatOf(bytes: Uint8Array): Format | null {
  const formats = Object.entries(SIGNATURES) as [Format, readonly (number | null)[]][]
  const found = formats.find(([, signature]) => signature.every((byte, i) => byte === null || bytes[i] === byte))
  return found?.[0] ?? null
}

function within(side: number) {
  return { width: side, height: side, fit: 'inside', withoutEnlargement: true } as const
}

async function written(
  picture: Sharp,
  { format, bytesMax }: { readonly format: Format; readonly bytesMax: number },
): Promise<VisionImage> {
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true })
  const again = (): Sharp => sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } })
  const { width, height } = info
  if (format !== 'jpeg') {
    const png = await again().png({ compressionLevel: 6 }).toBuffer()
    if (png.length <= Math.min(PNG_BYTES_MAX, bytesMax)) return { bytes: png, mediaType: 'image/png', width, height }
  }
  for (const quality of QUALITIES) {
    const jpeg = await again().flatten({ background: '#fff' }).jpeg({ quality }).toBuffer()
    if (jpeg.length <= bytesMax) return { bytes: jpeg, mediaType: 'image/jpeg', width, height }
  }
  const side = Math.floor(Math.max(width, height) / 2)
  if (side >= SIDE_MIN) return written(again().resize(within(side)), { format: 'jpeg', bytesMax })
  throw new EngineRefusal('it is too large a picture')
}
