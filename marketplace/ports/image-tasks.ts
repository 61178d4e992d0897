/** Width and height in pixels. */
export const PICTURE_SIDE = 1_024
/** A little more than the file of a picture of noise takes. */
export const PICTURE_BYTES_MAX = 3_400_000

/** A PNG without metadata, {@link PICTURE_SIDE} pixels on each side. */
export interface SquarePng {
  readonly bytes: Uint8Array
  /** In hexadecimal. */
  readonly sha256: string
}

/** Width and height in pixels of a picture shown to a model. */
export const VISION_SIDE_MAX = 2_048
/** Most bytes of a picture shown to a model. */
export const VISION_BYTES_MAX = 4_000_000

/** A picture to re-encode for a model; `sideMax` in pixels. */
export interface VisionWish {
  readonly bytes: Uint8Array
  readonly bytesMax: number
  readonly sideMax: number
}

/** A re-encoded picture for a model, without metadata. */
export interface VisionImage {
  readonly bytes: Uint8Array
  readonly mediaType: 'image/png' | 'image/jpeg'
  readonly width: number
  readonly height: number
}

/** Tasks on pictures. Bytes that are not a picture are `engine/refused`. */
export interface ImageTasks {
  readonly 'image/square-png': { readonly input: { readonly bytes: Uint8Array }; readonly output: SquarePng }
  readonly 'image/vision': { readonly input: VisionWish; readonly output: VisionImage }
  readonly 'image/procedural': { readonly input: { readonly seed: string }; readonly output: SquarePng }
}
