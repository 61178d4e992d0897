import { describe, expect, it } from 'vitest'
import { beyondBytes, type KeptResult } from '../../../../marketplace/till/claim-store.ts'

const MIB = 1_048_576
const BYTES_MAX = 256 * MIB

type Named = KeptResult & { readonly name: string }

function kept(name: string, payer: string | null, bytes: number, change: Partial<KeptResult> = {}): Named {
  return { name, payer, bytes, priceUsdMicros: 10_000n, isDelivered: false, ...change }
}

/**
 * Results of the same size and price as the honest one, from `addresses` addresses. Together with the honest one they
 * exceed the limit by one result.
 */
function flood(addresses: number, bytes: number): readonly Named[] {
  return Array.from({ length: BYTES_MAX / bytes }, (_, i) => kept('of the flood', `0x${i % addresses}`, bytes))
}

const gone = (results: readonly Named[]): readonly string[] => beyondBytes(results, BYTES_MAX).map(({ name }) => name)

describe('an undelivered result, the oldest of all', () => {
  it.each([1, 16, 32, 64, 100])('stays where a flood of its kind comes from %d addresses', (addresses) => {
    expect(gone([kept('honest', '0xa', MIB), ...flood(addresses, MIB)])).toEqual(['of the flood'])
  })

  it('goes where every result of the flood is paid from an address of its own', () => {
    expect(gone([kept('honest', '0xa', MIB), ...flood(256, MIB)])).toEqual(['honest'])
  })

  it('stays while anything delivered is there that is as large', () => {
    const read = kept('read', '0xb', MIB, { isDelivered: true })
    expect(gone([kept('honest', '0xa', MIB), ...flood(256, MIB).slice(1), read])).toEqual(['read'])
  })

  it('stays where its price for each byte is above that of the flood, from however many addresses', () => {
    const honest = kept('honest', '0xa', MIB / 2)
    expect(gone([honest, ...flood(256, MIB)])).toEqual(['of the flood'])
  })
})

describe('what is forgotten', () => {
  it('is enough, whatever was paid and by whom', () => {
    for (const priceUsdMicros of [0n, 10_000n])
      for (const payer of [null, '0xa']) {
        const many = Array.from({ length: 600 }, (_, i) => kept(String(i), payer, MIB, { priceUsdMicros }))
        expect(many.length - gone(many).length).toBe(256)
      }
    expect(gone([])).toEqual([])
  })

  it('is found soon where there are very many', () => {
    const many = Array.from({ length: 200_000 }, (_, i) => kept(String(i), `0x${i}`, 2_000))
    expect(gone(many).length).toBe(200_000 - Math.floor(BYTES_MAX / 2_000))
  })
})
