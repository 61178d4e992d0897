import { describe, expect, it } from 'vitest'
import type { AccountScheme } from '../../../../consensus/crypto/schemes.ts'
import {
  type SigningDomain,
  type SigningNetwork,
  signingContext,
  signingMessage,
  textMessage,
  transactionMessage,
} from '../../../../consensus/crypto/signing.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import type { BlockId, TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { loadVectors } from '../../../support/vectors.ts'

interface MessageVector extends SigningNetwork {
  readonly domain: SigningDomain
  readonly scheme: AccountScheme
  readonly subject: string
  readonly message: string
}

const { cases } = loadVectors<{ cases: readonly MessageVector[] }>('signing-messages.json', { cases: 16 })
const NETWORK: SigningNetwork = { chainId: 1, genesis: 'ab'.repeat(32) as BlockId }

describe('the message that signatures cover', () => {
  it('is that of every vector', () => {
    for (const { domain, scheme, subject, message, ...network } of cases) {
      const made =
        domain === 'transaction'
          ? transactionMessage(network, scheme, subject as TxId)
          : textMessage(network, scheme, subject)
      expect(toHex(made)).toBe(message)
    }
  })

  it('begins with the label that is the ML-DSA context too', () => {
    const txId = '00'.repeat(32) as TxId
    expect(signingContext('transaction')).toEqual(encodeText('farthing-transaction/1'))
    expect(signingContext('text')).toEqual(encodeText('farthing-text/1'))
    expect(transactionMessage(NETWORK, 1, txId).length).toBe(22 + 4 + 32 + 1 + 32)
    expect(textMessage(NETWORK, 1, '').length).toBe(15 + 4 + 32 + 1 + 32)
  })

  it('differs with every fact in it', () => {
    const digest = fromHex('01'.repeat(32))
    const domains = ['transaction', 'text'] as const
    const networks = [
      NETWORK,
      { ...NETWORK, chainId: 2 },
      { ...NETWORK, chainId: 256 },
      { ...NETWORK, genesis: 'ac'.repeat(32) as BlockId },
    ]
    const messages = domains.flatMap((domain) =>
      networks.flatMap((network) =>
        ([1, 2, 3] as const).flatMap((scheme) =>
          [digest, fromHex('02'.repeat(32))].map((each) => toHex(signingMessage(domain, network, scheme, each))),
        ),
      ),
    )
    expect(new Set(messages).size).toBe(2 * 4 * 3 * 2)
  })

  it('never is the beginning of a message of the other domain', () => {
    const text = toHex(signingContext('text'))
    const transaction = toHex(signingContext('transaction'))
    expect(transaction.startsWith(text) || text.startsWith(transaction)).toBe(false)
  })
})
