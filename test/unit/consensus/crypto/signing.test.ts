import { describe, expect, it } from 'vitest'
import {
  type SigningNetwork,
  signingContext,
  signingMessage,
  textMessage,
  transactionMessage,
} from '../../../../consensus/crypto/signing.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import type { BlockId, TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { type Statement, statementMessage } from '../../../support/statements.ts'
import { loadVectors } from '../../../support/vectors.ts'

interface MessageVector extends Statement {
  readonly message: string
}

const { cases } = loadVectors<{ cases: readonly MessageVector[] }>('signing-messages.json', { cases: 18 })
const DOMAINS = ['transaction', 'text', 'attestation'] as const
const NETWORK: SigningNetwork = { chainId: 1, genesis: 'ab'.repeat(32) as BlockId }

describe('the message that signatures cover', () => {
  it('is that of every vector', () => {
    for (const { message, ...statement } of cases) expect(toHex(statementMessage(statement))).toBe(message)
    expect(new Set(cases.map(({ domain }) => domain))).toEqual(new Set(DOMAINS))
  })

  it('begins with the label that is the ML-DSA context too', () => {
    const txId = '00'.repeat(32) as TxId
    expect(signingContext('transaction')).toEqual(encodeText('farthing-transaction/1'))
    expect(signingContext('text')).toEqual(encodeText('farthing-text/1'))
    expect(signingContext('attestation')).toEqual(encodeText('farthing-attestation/1'))
    expect(transactionMessage(NETWORK, 1, txId).length).toBe(22 + 4 + 32 + 1 + 32)
    expect(textMessage(NETWORK, 1, '').length).toBe(15 + 4 + 32 + 1 + 32)
  })

  it('differs with every fact in it', () => {
    const digest = fromHex('01'.repeat(32))
    const networks = [
      NETWORK,
      { ...NETWORK, chainId: 2 },
      { ...NETWORK, chainId: 256 },
      { ...NETWORK, genesis: 'ac'.repeat(32) as BlockId },
    ]
    const messages = DOMAINS.flatMap((domain) =>
      networks.flatMap((network) =>
        ([1, 2, 3] as const).flatMap((scheme) =>
          [digest, fromHex('02'.repeat(32))].map((each) => toHex(signingMessage(domain, network, scheme, each))),
        ),
      ),
    )
    expect(new Set(messages).size).toBe(3 * 4 * 3 * 2)
  })

  it('never is the beginning of a message of another domain', () => {
    const labels = DOMAINS.map((domain) => toHex(signingContext(domain)))
    expect(labels.filter((label) => labels.filter((other) => other.startsWith(label)).length > 1)).toEqual([])
  })
})
