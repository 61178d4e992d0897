/** Pixels of a picture that is sold, across and down. */
export const PICTURE_SIDE = 1_024
/** Most bytes of one: what as many pixels of noise have, and a little. */
export const PICTURE_BYTES_MAX = 3_400_000

/** A picture as PNG of that size, without metadata. */
export interface SquarePng {
  readonly bytes: Uint8Array
  /** Of the bytes, hex. */
  readonly sha256: string
}

/** Most pixels across and down of a picture that a model is shown. */
export const VISION_SIDE_MAX = 2_048
/** Most bytes of one. */
export const VISION_BYTES_MAX = 4_000_000

/** A picture to be written anew for a model, and what it may have at most: bytes, and pixels across and down. */
export interface VisionWish {
  readonly bytes: Uint8Array
  readonly bytesMax: number
  readonly sideMax: number
}

/** A picture for a model to look at, without metadata. */
export interface VisionImage {
  readonly bytes: Uint8Array
  readonly mediaType: 'image/png' | 'image/jpeg'
  readonly width: number
  readonly height: number
}

/** Work on pictures. Bytes that are no picture are `engine/refused`. */
export interface ImageTasks {
  readonly 'image/square-png': { readonly input: { readonly bytes: Uint8Array }; readonly output: SquarePng }
  readonly 'image/vision': { readonly input: VisionWish; readonly output: VisionImage }
  readonly 'image/procedural': { readonly input: { readonly seed: string }; readonly output: SquarePng }
}
