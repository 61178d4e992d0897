import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../../../src/cli/args.ts'

const parsed = (...args: readonly string[]) => {
  const line = parseCommandLine(args)
  return line.ok ? [line.value.words, line.value.flags] : String(line.fault.detail.reason)
}

describe('a command line', () => {
  it('is cut into words and flags, in any order', () => {
    expect(parsed('call', '--rpc', 'http://x', 'node-a', '--json', 'text')).toEqual([
      ['call', 'node-a', 'text'],
      { rpc: 'http://x', json: 'true' },
    ])
    expect(parsed('--rpc=http://x?a=b', 'call', '--max-price=')).toEqual([
      ['call'],
      { rpc: 'http://x?a=b', 'max-price': '' },
    ])
    expect(parsed('call', 'node-a', '')).toEqual([['call', 'node-a', ''], {}])
  })

  it('takes no short flag for a word: it could be bought as the request of a call', () => {
    for (const flag of ['-x', '-rf', '-1', '-json']) {
      expect(parsed('call', 'node-a', flag)).toMatch(new RegExp(`^${flag} is no flag: flags begin with --`))
    }
    expect(parsed('call', 'node-a', '-h')).toEqual([['call', 'node-a'], { help: 'true' }])
    expect(parsed('call', 'node-a', '-')).toEqual([['call', 'node-a', '-'], {}])
    expect(parsed('call', '--', 'node-a', '-x', '--json')).toEqual([['call', 'node-a', '-x', '--json'], {}])
  })

  it('gives every flag once, and a value where it needs one', () => {
    expect(parsed('call', '--rpc', 'a', '--rpc=b')).toBe('--rpc is given twice')
    expect(parsed('call', '--rpc')).toBe('--rpc needs a value')
    expect(parsed('call', '--rpc', '--json')).toBe(
      '--rpc needs a value, and --json is a flag; a value may also stand as --rpc=VALUE',
    )
    expect(parsed('call', '--rpc=--json')).toEqual([['call'], { rpc: '--json' }])
    expect(parsed('agent', '--settlers', '', 'x')).toEqual([['agent', 'x'], { settlers: '' }])
  })

  it('gives a switch no value', () => {
    for (const value of ['', 'true', 'false'])
      expect(parsed('call', `--no-pay=${value}`)).toBe('--no-pay takes no value: give it alone, or leave it out')
  })

  it('leaves a flag that there is not to those who can name it', () => {
    const line = parseCommandLine(['call', '--nopay', '--rpc', 'http://x', '--typo'], new Set(['rpc']))
    expect(line).toEqual({
      ok: true,
      value: { words: ['call'], flags: { nopay: '', rpc: 'http://x', typo: '' } },
    })
  })

  it('says of a negative number that an amount is above zero', () => {
    expect(parsed('wallet', 'send', 'x', '-1')).toMatch(/^-1 is no flag: .* an amount is above zero; /)
  })
})
