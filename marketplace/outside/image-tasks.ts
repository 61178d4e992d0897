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

/** Work on pictures. Bytes that are no picture are `engine/refused`. */
export interface ImageTasks {
  readonly 'image/square-png': { readonly input: { readonly bytes: Uint8Array }; readonly output: SquarePng }
  readonly 'image/procedural': { readonly input: { readonly seed: string }; readonly output: SquarePng }
}
