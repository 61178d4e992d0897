import { describe, expect, it } from 'vitest'
import { Workshop } from '../support/daemon.ts'

const workshop = new Workshop()

describe('a text that a wallet signs', () => {
  it('is verified without a node, and not after a change, nor on another network', async () => {
    const folder = workshop.folder()
    const flags = ['--data-dir', folder]
    expect((await workshop.run(['init', ...flags])).code).toBe(0)
    const signed = await workshop.run(['wallet', 'sign-text', 'I hold this address: ü', ...flags])
    expect(signed).toMatchObject({ code: 0, stderr: '' })
    const verify = (input: string, ...more: readonly string[]) =>
      workshop.run(['wallet', 'verify-text', ...more], { input })

    const good = await verify(signed.stdout)
    expect(good).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^good: dfar1[a-z0-9]+ has signed this text\n$/),
    })
    const given = await workshop.run(['wallet', 'verify-text', signed.stdout.trim(), '--json'])
    expect(given.code).toBe(0)
    expect(JSON.parse(given.stdout)).toMatchObject({ valid: true, classical: true, postQuantum: true, reason: null })

    const changed = await verify(signed.stdout.replace('hold', 'held'), '--json')
    expect(changed.code).toBe(1)
    expect(JSON.parse(changed.stdout)).toMatchObject({ valid: false, classical: false, postQuantum: false })
    const elsewhere = await verify(signed.stdout, '--network', 'testnet')
    expect(elsewhere.code).toBe(2)
    expect(elsewhere.stderr).toMatch(/^farthing: the address begins with dfar/)
  })

  it('says in one line what is wrong with what it is given', async () => {
    const text = await workshop.run(['wallet', 'sign-text', 'x'.repeat(10_001), '--data-dir', workshop.folder()])
    expect(text).toMatchObject({ code: 2, stderr: expect.stringMatching(/^farthing: .*10000 characters\n$/) })
    const none = await workshop.run(['wallet', 'verify-text'], { input: 'no json' })
    expect(none).toMatchObject({ code: 1, stderr: 'farthing: signed text: must be a JSON object\n' })
    const keyless = {
      address: 'dfar1wamhwamhwamhwamhwamhwamhwamhwamhwamhwamhwamhwamhwamsnws0wv',
      text: 'x',
      signature: '00',
    }
    const keys = await workshop.run(['wallet', 'verify-text', JSON.stringify(keyless)])
    expect(keys).toMatchObject({ code: 2, stderr: expect.stringMatching(/"keys" is missing/) })
  })
})
