import { expect } from 'vitest'
import { type Codec, decode, encode } from '../../consensus/primitives/codec.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Random } from './mutate.ts'
import { structured } from './structure.ts'

/** Something that takes bytes of strangers. */
export interface Target {
  readonly name: string
  /** Inputs for each run, where not as many as usual. */
  readonly share?: number
  /** Inputs that come to something. */
  readonly seeds: () => readonly Uint8Array[] | Promise<readonly Uint8Array[]>
  /** An input of the right structure. */
  readonly generate?: (random: Random) => Uint8Array
  /**
   * Takes one input. What it throws is a finding. The returned word says what became of the input: inputs with new words are worth
   * changing further.
   */
  readonly run: (bytes: Uint8Array) => string | Promise<string>
  /** Looks back on all runs, and ends what was begun. */
  readonly close?: () => Promise<void>
}

/** What became of a result, without what differs between any two inputs. */
export function wordOf(result: Result<unknown>): string {
  if (result.ok) return 'ok'
  const { code, detail } = result.fault
  return `${code} ${String(detail.reason ?? '').replaceAll(/\d+/g, '#')}`
}

/** Bytes that were accepted are the only ones for their value. */
export function expectSame(again: Uint8Array, bytes: Uint8Array): void {
  if (Buffer.compare(again, bytes) !== 0)
    expect(Buffer.from(again).toString('hex')).toBe(Buffer.from(bytes).toString('hex'))
}

/** A codec: a value or a fault, and one encoding for each value. */
export function codecTarget<V>(name: string, codec: Codec<V>, seeds: Target['seeds']): Target {
  return {
    name,
    seeds,
    generate: (random) => structured(codec, random),
    run: (bytes) => {
      const value = decode(codec, bytes)
      if (value.ok) expectSame(encode(codec, value.value), bytes)
      return wordOf(value)
    },
  }
}
