import { expect } from 'vitest'
import { type Codec, decode, encode } from '../../consensus/primitives/codec.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { Random } from './mutate.ts'
import { structured } from './structure.ts'

/** Code that reads bytes from strangers. */
export interface Target {
  readonly name: string
  /** Share of the usual number of inputs; default 1. */
  readonly share?: number
  /** Valid inputs. */
  readonly seeds: () => readonly Uint8Array[] | Promise<readonly Uint8Array[]>
  /** Makes an input of the right structure. */
  readonly generate?: (random: Random) => Uint8Array
  /** Takes one input. A thrown error is a finding. The returned word names the outcome: inputs with new words are changed further. */
  readonly run: (bytes: Uint8Array) => string | Promise<string>
  /** Final checks over all runs, and cleanup. */
  readonly close?: () => Promise<void>
}

/** The word of a result, without numbers, which would differ between inputs. */
export function wordOf(result: Result<unknown>): string {
  if (result.ok) return 'ok'
  const { code, detail } = result.fault
  return `${code} ${String(detail.reason ?? '').replaceAll(/\d+/g, '#')}`
}

/** Expects that accepted bytes are the only encoding of their value. */
export function expectSame(again: Uint8Array, bytes: Uint8Array): void {
  if (Buffer.compare(again, bytes) !== 0)
    expect(Buffer.from(again).toString('hex')).toBe(Buffer.from(bytes).toString('hex'))
}

/** A target for a codec: it must give a value or a fault, and one encoding per value. */
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
