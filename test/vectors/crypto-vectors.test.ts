import { readFileSync } from 'node:fs'
import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { describe, expect, it } from 'vitest'
import { bech32Text } from './generate/accounts.ts'
import { VECTOR_FILES } from './generate/all.ts'
import { hex, madeBytes, unhex } from './generate/bytes.ts'
import {
  encodePoint,
  equationHolds,
  expandSeed,
  signEd25519,
  smallOrderEncodings,
  TORSION,
} from './generate/edwards25519.ts'
import { keyPair, signMlDsa } from './generate/ml-dsa.ts'
import { PARAMS } from './generate/ml-dsa-math.ts'
import { render } from './generate/render.ts'

describe('vector files', () => {
  it.for(Object.keys(VECTOR_FILES))('%s is what its generator writes', (name) => {
    const written = readFileSync(new URL(name, import.meta.url), 'utf8')
    const made = render((VECTOR_FILES[name] as (typeof VECTOR_FILES)[string])())
    // Compared as a boolean: a diff of half a megabyte would be useless.
    expect(made === written, `run node test/vectors/generate/all.ts; ${name} is out of date`).toBe(true)
  })
})

/** Tests the generators' own implementations against published values. */
describe('the generators', () => {
  it('make the first signature of RFC 8032, section 7.1', () => {
    const key = expandSeed(unhex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'))
    const { publicKey, signature } = signEd25519(key, new Uint8Array(0))
    expect(hex(publicKey)).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
    expect(hex(signature)).toBe(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
        '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    )
    expect(equationHolds(publicKey, new Uint8Array(0), signature)).toBe(true)
  })

  it('find eight points of small order and the fourteen ways to spell them', () => {
    expect(new Set(TORSION.map((point) => hex(encodePoint(point)))).size).toBe(8)
    expect(new Set(smallOrderEncodings().map(hex)).size).toBe(14)
  })

  it('make the same deterministic ML-DSA keys and signatures as another implementation', () => {
    const seed = madeBytes('another seed', 32)
    const [message, context] = [madeBytes('another message', 100), madeBytes('another context', 20)]
    for (const [level, other] of [[44, ml_dsa44] as const, [65, ml_dsa65] as const]) {
      const pair = keyPair(PARAMS[level], seed)
      const { publicKey, secretKey } = other.keygen(seed)
      expect(hex(pair.publicKey)).toBe(hex(publicKey))
      const expected = other.sign(message, secretKey, { context, extraEntropy: false })
      expect(hex(signMlDsa(pair, message, context))).toBe(hex(expected))
    }
  })

  it('write the bech32m texts of BIP-350', () => {
    expect(bech32Text('a', [])).toBe('a1lqfn3a')
    expect(bech32Text('abcdef', [...Array(32).keys()].reverse())).toBe('abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx')
    expect(
      bech32Text(
        'split',
        [
          24, 23, 25, 24, 22, 28, 1, 16, 11, 29, 8, 25, 23, 29, 19, 13, 16, 23, 29, 22, 25, 28, 1, 16, 11, 3, 25, 29,
          27, 25, 3, 3, 29, 19, 11, 25, 3, 3, 25, 13, 24, 29, 1, 25, 3, 3, 25, 13,
        ],
      ),
    ).toBe('split1checkupstagehandshakeupstreamerranterredcaperredlc445v')
  })
})
