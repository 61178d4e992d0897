import { expect, it } from 'vitest'
import { verifyTabSignature } from '../../../../consensus/crypto/tab-signing.ts'
import { fromHex } from '../../../../consensus/primitives/bytes.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { verifyTabLater } from '../../../../src/crypto/tab-verifier.ts'
import { ED25519_COUNTS } from '../../../contract/signature-backend.suite.ts'
import { loadVectors, type SpelledBytes } from '../../../support/vectors.ts'
import { vectors } from '../../../vectors/read.ts'

interface Ed25519Case {
  readonly name: string
  readonly key: SpelledBytes
  readonly message: SpelledBytes
  readonly signature: SpelledBytes
  readonly valid: boolean
}

it('gives every Ed25519 vector its verdict, the strict rules included, as the check on the main thread does', async () => {
  const read = loadVectors<{ cases: readonly Ed25519Case[] }>('ed25519.json', ED25519_COUNTS)
  const wrong: string[] = []
  for (const { name, valid, ...spelled } of read.cases) {
    const job = {
      key: read.bytes(spelled.key),
      message: read.bytes(spelled.message),
      signature: read.bytes(spelled.signature),
    }
    if ((await verifyTabLater(job)) !== valid || verifyTabSignature(NATIVE_BACKEND, job) !== valid) wrong.push(name)
  }
  expect(wrong).toEqual([])
})

it('gives the vectors of keys of tabs their verdicts, all at once and again', async () => {
  const { cases } = vectors('tab-signing')
  const verify = (): Promise<readonly boolean[]> =>
    Promise.all(
      cases.map(({ key, message, signature }) =>
        verifyTabLater({ key: fromHex(key), message: fromHex(message), signature: fromHex(signature) }),
      ),
    )
  const expected = cases.map(({ valid }) => valid)
  expect(await verify()).toEqual(expected)
  expect(await verify()).toEqual(expected)
})
