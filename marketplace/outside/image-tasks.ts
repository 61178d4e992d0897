/** A picture as PNG, 1024 pixels wide and high, without metadata. */
export interface SquarePng {
  readonly bytes: Uint8Array
}

/** Work on pictures. Bytes that are no picture are `engine/refused`. */
export interface ImageTasks {
  readonly 'image/square-png': { readonly input: { readonly bytes: Uint8Array }; readonly output: SquarePng }
  readonly 'image/procedural': { readonly input: { readonly seed: string }; readonly output: SquarePng }
}
