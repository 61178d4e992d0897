import { describe, expect, it } from 'vitest'
import { likestCommands } from '../../../../src/cli/likeness.ts'
import { COMMANDS } from '../../../../src/cli/table.ts'

const NAMES = COMMANDS.map(({ name }) => name)
const first = (typed: string): string | undefined => likestCommands(typed, NAMES, 3)[0]

describe('the command that is suggested first', () => {
  it.each([
    ['agnt', 'agent list'],
    ['agent', 'agent list'],
    ['wlalet', 'wallet new'],
    ['cal', 'call'],
    ['tokne', 'token list'],
    ['staek', 'stake'],
    ['strat', 'start'],
    ['holdings', 'wallet holdings'],
    ['blance', 'wallet balance'],
    ['doctor', 'doctor providers'],
  ])('%s: %s', (typed, meant) => {
    expect(first(typed)).toBe(meant)
  })

  it('is what does the same under another name', () => {
    expect(likestCommands('price', NAMES, 3)).toEqual(['services', 'swap'])
    expect(likestCommands('Quote', NAMES, 3)).toEqual(['call', 'swap'])
    expect(likestCommands('send', NAMES, 1)).toEqual(['wallet send'])
    // Names of inherited object properties are ordinary words here.
    expect(likestCommands('constructor', NAMES, 3)).toHaveLength(3)
  })

  it('is one of the group that was named, without words of others', () => {
    const group = ['wallet new', 'wallet send']
    expect(likestCommands('wallet nwe', group, 3)).toEqual(group)
    expect(likestCommands('price', group, 1)).toHaveLength(1)
  })
})
