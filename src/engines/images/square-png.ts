import { createHash } from 'node:crypto'
import sharp, { type Sharp } from 'sharp'
import { PICTURE_BYTES_MAX, PICTURE_SIDE, type SquarePng } from '../../../marketplace/ports/image-tasks.ts'
import { EngineRefusal } from '../refusal.ts'

/** Vector graphics are refused: they can reference files on this machine. */
const FORMATS: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp', 'gif'])
/** Small files can hold enormous pictures. */
const PIXELS_MAX = 40_000_000

// Each picture takes one thread only, and none is cached.
sharp.concurrency(1)
sharp.cache(false)

/** A PNG of the sold size: cropped to a square around its middle, without metadata. */
export async function squarePng({ bytes }: { readonly bytes: Uint8Array }): Promise<SquarePng> {
  try {
    const picture = sharp(bytes, { limitInputPixels: PIXELS_MAX, failOn: 'truncated' })
    const { format } = await picture.metadata()
    if (!FORMATS.has(format)) throw new EngineRefusal(`pictures of the format ${format} are not taken`)
    return await finishedPng(picture.rotate().resize(PICTURE_SIDE, PICTURE_SIDE, { fit: 'cover' }))
  } catch (error) {
    if (error instanceof EngineRefusal) throw error
    // The library's messages name its own functions.
    throw new EngineRefusal('the bytes are no picture that can be read, or too large a one')
  }
}

/** A picture too noisy for the byte limit gets fewer colours. */
export async function finishedPng(picture: Sharp): Promise<SquarePng> {
  const raw = await picture.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true })
  const again = (): Sharp => sharp(raw.data, { raw: raw.info })
  const png = await again().png({ compressionLevel: 9 }).toBuffer()
  const bytes = png.length <= PICTURE_BYTES_MAX ? png : await again().png({ palette: true }).toBuffer()
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
