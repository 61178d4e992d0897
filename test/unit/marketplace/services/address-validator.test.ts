import { createHash } from 'node:crypto'
import { createBase58check } from '@scure/base'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { formatAddress } from '../../../../consensus/crypto/address.ts'
import { checkExternalAddress, type ExternalFormat } from '../../../../consensus/external/address.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { anyAddress } from '../../../support/external-oracle.ts'
import { runs } from '../../../support/runs.ts'
import { serviceChain } from '../../../support/service-chain.ts'
import { ask, resultOf, serviceNamed } from '../../../support/service-results.ts'
import { steadyWallet } from '../../../support/steady-keys.ts'

interface Judged {
  readonly input: string
  readonly valid: boolean
  readonly matches: readonly {
    readonly network: string
    readonly type: string
    readonly normalised: string
    readonly canonical: boolean
    readonly checksum: string
    readonly note?: string
  }[]
  readonly ambiguous: boolean
  readonly reasons: readonly { readonly network: string; readonly reason: string }[]
}

const base58check = createBase58check((data: Uint8Array) => Uint8Array.from(createHash('sha256').update(data).digest()))
const EVM_NETWORKS = ['ethereum', 'base', 'arbitrum', 'optimism', 'polygon', 'bnb', 'avalanche']
const FORMAT_OF: Readonly<Record<string, ExternalFormat>> = {
  ...Object.fromEntries(EVM_NETWORKS.map((network) => [network, 'evm' as const])),
  solana: 'solana',
  bitcoin: 'bitcoin',
  litecoin: 'litecoin',
}

describe('the address validator', () => {
  let context: ServiceContext
  beforeAll(async () => {
    context = (await serviceChain()).context
  })
  const judged = (text: string): Promise<Judged> => resultOf<Judged>('node-address-validator', text, context)

  it.for([
    // BIP-173 and BIP-350: https://github.com/bitcoin/bips/blob/master/bip-0350.mediawiki#test-vectors
    ['bitcoin', 'p2wpkh', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['bitcoin', 'p2wsh', 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3', null],
    ['bitcoin', 'p2tr', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', null],
    // Base58check: https://en.bitcoin.it/wiki/Genesis_block
    ['bitcoin', 'p2pkh', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', null],
    ['litecoin', 'p2pkh', 'LT2KVaAy1ppRuxRgrS5RNU3vBsy7RibPeA', null],
    ['litecoin', 'p2sh', 'MHrYRxAiMNBTku3eoDHwhA1LQGDjUStZW2', null],
    ['litecoin', 'p2wpkh', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', null],
    [
      'litecoin',
      'p2wpkh',
      'LTC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KGMN4N9',
      'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
    ],
  ] as const)('finds %s %s: %s', async ([network, type, text, normalised]) => {
    const result = await judged(` ${text} `)
    expect(result).toMatchObject({ input: text, valid: true, ambiguous: false })
    expect(result.matches).toEqual([
      { network, type, normalised: normalised ?? text, canonical: normalised === null, checksum: 'valid' },
    ])
    expect(result.reasons).toHaveLength(10)
  })

  it.for([
    // EIP-55: https://eips.ethereum.org/EIPS/eip-55#test-cases
    ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'valid'],
    ['0x52908400098527886E0F7030069857D2E4169EE7', '0x52908400098527886E0F7030069857D2E4169EE7', 'valid'],
    ['0xde709f2102306220921060314715629080e2fb77', '0xde709f2102306220921060314715629080e2fb77', 'valid'],
    ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'absent'],
    ['0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'absent'],
    ['0x1111111111111111111111111111111111111111', '0x1111111111111111111111111111111111111111', 'absent'],
  ] as const)('finds %s on every EVM network, and says that it is ambiguous', async ([text, normalised, checksum]) => {
    const { matches, ambiguous, valid } = await judged(text)
    expect({ ambiguous, valid }).toEqual({ ambiguous: true, valid: true })
    expect(matches).toEqual(
      EVM_NETWORKS.map((network) => ({
        network,
        type: 'eoa-or-contract',
        normalised,
        canonical: normalised === text,
        checksum,
      })),
    )
  })

  it('takes the old form of a script on Litecoin for what it may be, of Bitcoin too, and writes it in the new one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 20, maxLength: 20 }), async (hash) => {
        const [old, own] = [0x05, 0x32].map((version) => base58check.encode(Uint8Array.of(version, ...hash))) as [
          string,
          string,
        ]
        const { matches, ambiguous } = await judged(old)
        const found = { type: 'p2sh', checksum: 'valid' }
        expect(ambiguous).toBe(true)
        expect(matches).toEqual([
          { ...found, network: 'bitcoin', normalised: old, canonical: true },
          { ...found, network: 'litecoin', normalised: own, canonical: false },
        ])
      }),
      { numRuns: runs(100) },
    )
  })

  it('shows as its sample what it says of its example', async () => {
    const { example, sample } = serviceNamed('node-address-validator')
    expect({ ...(await judged(example)), asOf: '' }).toEqual({ ...sample, asOf: '' })
  })

  it('says of Solana only that it is well-formed', async () => {
    const { matches } = await judged('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkwZyTDt1v')
    expect(matches).toMatchObject([
      { network: 'solana', type: 'account', checksum: 'absent', note: expect.stringContaining('well-formed only') },
    ])
  })

  it('finds addresses of this chain, and not those of another network of it', async () => {
    const own = formatAddress('dfar', steadyWallet(3).address)
    expect((await judged(own)).matches).toEqual([
      { network: 'farthing', type: 'account', normalised: own, canonical: true, checksum: 'valid' },
    ])
    expect((await judged(own.toUpperCase())).matches).toMatchObject([{ normalised: own, canonical: false }])
    expect((await judged(`${own.slice(0, -1)}${own.endsWith('q') ? 'p' : 'q'}`)).valid).toBe(false)
    const { valid, reasons } = await judged(formatAddress('far', steadyWallet(3).address))
    expect(valid).toBe(false)
    expect(reasons.find(({ network }) => network === 'farthing')?.reason).toContain('far')
  })

  it.for([
    // Invalid by BIP-350: checksum of the other code, mixed case, wrong version, padding.
    ['bitcoin', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', 'witness version'],
    ['bitcoin', 'bc1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0', 'checksum'],
    ['bitcoin', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4', 'checksum'],
    ['bitcoin', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'checksum'],
    ['bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'checksum'],
    ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'base58'],
    ['ethereum', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', 'EIP-55'],
    ['ethereum', '0x0000000000000000000000000000000000000000', 'zero address'],
    ['ethereum', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '40 hex digits'],
    ['solana', '11111111111111111111111111111111', 'system program'],
    ['litecoin', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n8', 'checksum'],
  ] as const)('tells why a text is none on %s: %s', async ([network, text, why]) => {
    const { valid, reasons } = await judged(text)
    expect(valid).toBe(false)
    expect(reasons.map((reason) => reason.network)).toEqual(['farthing', ...Object.keys(FORMAT_OF)])
    expect(reasons.find((reason) => reason.network === network)?.reason).toContain(why)
  })

  it('refuses what is no word of ASCII', async () => {
    for (const text of ['', '  ', 'two words', 'd\u00e9j\u00e0', 'a'.repeat(129), 'a\u0000b', '\u{1f525}']) {
      expect(await ask('node-address-validator', text, context)).toHaveProperty('refused')
    }
  })

  it('finds every address that the libraries make, on its own networks, as what it is', async () => {
    await fc.assert(
      fc.asyncProperty(anyAddress, async ({ format, text, kind }) => {
        const found = (await judged(text)).matches.filter(({ network }) => FORMAT_OF[network] === format)
        expect(found.length).toBe(format === 'evm' ? EVM_NETWORKS.length : 1)
        for (const match of found) {
          expect(match).toMatchObject({
            normalised: text,
            canonical: true,
            type: format === 'solana' ? 'account' : kind,
          })
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('writes every address as the bridge takes it, and finds that again', async () => {
    const variants = anyAddress.chain(({ text }) =>
      fc.constantFrom(text, text.toLowerCase(), text.toUpperCase(), `0x${text.slice(2).toUpperCase()}`),
    )
    const texts = fc.oneof(variants, fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 128 }))
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const answer = await ask('node-address-validator', text, context)
        if (!('result' in answer)) return
        const { matches, valid, ambiguous, reasons } = answer.result as Judged
        expect({ valid, ambiguous }).toEqual({ valid: matches.length > 0, ambiguous: matches.length > 1 })
        expect(matches.length + reasons.length).toBe(11)
        for (const { network, normalised } of matches) {
          const format = FORMAT_OF[network] as ExternalFormat
          expect(checkExternalAddress(format, normalised)).toBeNull()
          const again = (await judged(normalised)).matches.find((match) => match.network === network)
          expect(again).toMatchObject({ normalised, canonical: true })
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('finds any address of the chain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), async (bytes) => {
        const address = formatAddress('dfar', Buffer.from(bytes).toString('hex') as Address)
        expect((await judged(address)).matches).toMatchObject([{ network: 'farthing', canonical: true }])
      }),
      { numRuns: runs(50) },
    )
  })
})
