import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { verifyTabSignature } from '../../../../consensus/crypto/tab-signing.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { openReceiptSigner, walletReceiptSigner } from '../../../../src/crypto/receipt-key.ts'
import { walletKey } from '../../../../src/crypto/wallet-key.ts'
import { seedOf } from '../../../support/actors.ts'
import { removeFolder, temporaryFolder } from '../../../support/processes.ts'

const MESSAGE = new Uint8Array(90).fill(7)
const folder = temporaryFolder()

afterAll(() => removeFolder(folder))

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

describe('the receipt key of a wallet', () => {
  it('is made from its seed as the specification says, and signs', () => {
    const signer = walletKey(seedOf(5)).receipts
    const tag = 'farthing/seed-tab-receipt/1'
    const seed = createHash('sha256').update(Uint8Array.of(tag.length)).update(tag).update(seedOf(5)).digest()
    expect(signer.key).toBe(toHex(NATIVE_BACKEND.publicKeyEd25519(seed)))
    const key = fromHex(signer.key)
    const signature = signer.sign(MESSAGE)
    expect(verifyTabSignature(NATIVE_BACKEND, { key, message: MESSAGE, signature })).toBe(true)
  })

  it('is the same after a restart, and another for another wallet', () => {
    expect(walletReceiptSigner(seedOf(5)).key).toBe(walletKey(seedOf(5)).receipts.key)
    expect(walletReceiptSigner(seedOf(6)).key).not.toBe(walletKey(seedOf(5)).receipts.key)
  })
})

describe('replicas with wallets of their own', () => {
  it('sign with one key if they are given the same file', async () => {
    const path = file('key', `${'0A'.repeat(32)}\n`)
    const [one, two] = [5, 6].map((number) => openReceiptSigner(path, null, walletReceiptSigner(seedOf(number))))
    const [first, second] = [await one, await two]
    if (!first?.ok || !second?.ok) throw new Error('not opened')
    expect(first.value.key).toBe(second.value.key)
    expect(first.value.sign(MESSAGE)).toEqual(second.value.sign(MESSAGE))
  })

  it('sign with the key that the first of them put into their store, if they are given no file', async () => {
    const kept = new Map<string, Uint8Array>()
    const secret = async (name: string, make: () => Uint8Array): Promise<Uint8Array> => {
      if (!kept.has(name)) kept.set(name, make())
      return kept.get(name) as Uint8Array
    }
    const [first, second] = await Promise.all(
      [5, 6].map((number) => openReceiptSigner(null, secret, walletReceiptSigner(seedOf(number)))),
    )
    if (!first?.ok || !second?.ok) throw new Error('not opened')
    expect(first.value.key).toBe(second.value.key)
    expect(first.value.sign(MESSAGE)).toEqual(second.value.sign(MESSAGE))
    expect(first.value.key).not.toBe(walletReceiptSigner(seedOf(5)).key)
  })

  it('use the key of the wallet without a file, and refuse a file that is no key', async () => {
    const own = walletReceiptSigner(seedOf(5))
    expect(await openReceiptSigner(null, null, own)).toEqual({ ok: true, value: own })
    for (const [path, reason] of [
      [join(folder, 'missing'), 'it cannot be read'],
      [file('short', '0a0b'), 'it does not hold a key of 64 hex digits'],
    ] as const) {
      const fault = { code: 'config/file', detail: { path, reason } }
      expect(await openReceiptSigner(path, null, own)).toEqual({ ok: false, fault })
    }
  })
})
