import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MAINNET } from '../../../../config/networks/mainnet.ts'
import { formatAddress } from '../../../../consensus/crypto/address.ts'
import { verifyHybrid } from '../../../../consensus/crypto/hybrid.ts'
import { wordsOfSeed } from '../../../../consensus/crypto/words.ts'
import { INTERNAL_ERROR } from '../../../../rpc/client/node-client.ts'
import { generateWallet, keyfileOf, walletFromKeyfile, walletFromWords } from '../../../../rpc/client/wallet.ts'
import { httpFault } from '../../../../rpc/contract/http-faults.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { walletKey } from '../../../../src/crypto/wallet-key.ts'
import { openWallet, saveWallet } from '../../../../src/wallet/keystore.ts'
import { removeFolder, temporaryFolder } from '../../../support/processes.ts'

const folder = temporaryFolder()
afterAll(() => removeFolder(folder))
const seed = Uint8Array.from({ length: 32 }, (_, i) => i)
const words = wordsOfSeed(seed)
const passphrase = 'pässword'
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'opened',
    (error: { code: string }) => error.code,
  )

describe('a wallet of the client', () => {
  it('is the wallet that the command line makes of the same words, and signs as it does', async () => {
    const [ours, theirs] = [walletFromWords(words), walletKey(seed)]
    expect(ours.address()).toBe(formatAddress(MAINNET.addressPrefix, theirs.address))
    const [message, context] = [Uint8Array.of(1, 2, 3), Uint8Array.of(4)]
    const [signed] = await ours.sign(message, context)
    const signature = signed?.bytes as Uint8Array
    expect(verifyHybrid(NATIVE_BACKEND, theirs.keys.keys[0]!, { message, context, signature })).toBe(true)
  })

  it('opens keyfiles of the command line by path and by text, and writes such', async () => {
    const saved = await saveWallet(folder, 'theirs', { seed, scheme: 1 }, passphrase)
    expect(saved.ok).toBe(true)
    const opened = await walletFromKeyfile(join(folder, 'theirs.json'), { passphrase })
    expect(opened.address()).toBe(walletFromWords(words).address())
    const text = await keyfileOf(words, { passphrase })
    expect((await walletFromKeyfile(text, { passphrase })).address()).toBe(opened.address())
    mkdirSync(join(folder, 'ours'))
    writeFileSync(join(folder, 'ours', 'mine.json'), text)
    expect((await openWallet(join(folder, 'ours'), 'mine', passphrase)).ok).toBe(true)
  })

  it('refuses a wrong passphrase, another address, a damaged file and costs out of bounds', async () => {
    const text = await keyfileOf(words, { passphrase })
    const file = JSON.parse(text)
    const changed = (change: object) => walletFromKeyfile(JSON.stringify({ ...file, ...change }), { passphrase })
    expect(await code(walletFromKeyfile(text, { passphrase: undefined as never }))).toBe('keyfile_passphrase')
    expect(await code(walletFromKeyfile(text, { passphrase: 'other' }))).toBe('keyfile_passphrase')
    expect(await code(changed({ address: 'ab'.repeat(32) }))).toBe('keyfile_passphrase')
    expect(await code(changed({ scheme: 2 }))).toBe('keyfile_invalid')
    expect(await code(changed({ kdf: { ...file.kdf, memoryKiB: 2 ** 30 } }))).toBe('keyfile_invalid')
    expect(await code(changed({ kdf: { ...file.kdf, passes: 0 } }))).toBe('keyfile_invalid')
    expect(await code(changed({ version: 2 }))).toBe('keyfile_invalid')
    expect(await code(walletFromKeyfile('{', { passphrase }))).toBe('keyfile_invalid')
    expect(await code(walletFromKeyfile(join(folder, 'none.json'), { passphrase }))).toBe('keyfile_invalid')
  })

  it('is made anew each time, and by its words again', () => {
    const [one, other] = [generateWallet(), generateWallet()]
    expect(one.words).not.toBe(other.words)
    expect(walletFromWords(one.words).address('devnet')).toBe(one.wallet.address('devnet'))
    expect(() => walletFromWords('one two')).toThrow(/not the words/)
  })
})

it('the client knows the code of an internal error as the table of faults has it', () => {
  expect(INTERNAL_ERROR).toBe(httpFault('rpc/internal').api)
})
