import { flag, integer, type Setting, text } from './setting.ts'

/** Settings of the chat platform. */
export const CHAT_SETTINGS = {
  'chat.enabled': flag('Whether this node has the chat platform: info API, chat, keys', true),
  'chat.tokens-max': integer('Most tokens of an answer; a request may ask for fewer', 4_096, [16, 131_072]),
  'chat.budget-seconds': integer('Time for all stages of one answer', 120, [5, 1_800]),
  'chat.concurrent-max': integer('Chats answered at once', 640, [1, 10_000]),
  'chat.key-concurrent-max': integer(
    'Chats answered at once for all keys of a wallet together, and for each key of the operator',
    32,
    [1, 10_000],
  ),
  'chat.key-rpm': integer(
    'Chats per minute for all keys of a wallet together, and for each key of the operator; a key may have less',
    60,
    [1, 1_000_000],
  ),
  'chat.key-tpd': integer(
    'Tokens per day (UTC) for all keys of a wallet together, and for each key of the operator; a key may have less',
    1_000_000,
    [1, 999_999_999_999],
  ),
  'chat.keys-max': integer('Most keys of a wallet, and of the operator', 20, [1, 1_000]),
  'chat.wallets': text(
    'Who may make keys by signing in with a wallet: all, none, or addresses separated by commas',
    'all',
    'all, none, or addresses separated by commas',
    /^(all|none|[0-9a-z]+(,[0-9a-z]+){0,63})$/,
  ),
  'chat.model-router': flag(
    'Whether model-4 lets a model choose the tier of requests that its rules do not decide',
    false,
  ),
  'chat.qa-model': flag(
    'Whether a model writes the answers of /api/v1/info/qa; otherwise they are quoted from the facts',
    true,
  ),
  'chat.comparison-file': text(
    'JSON file with the comparison to other products (comparison_vs_external) in the info API',
    null,
    'a path',
  ),
  'chat.faq-file': text('JSON file with further questions and answers for the info API', null, 'a path'),
  'chat.espeak': text('Program espeak-ng, for speech without a model: a name on the PATH or a path', null, 'a program'),
} as const satisfies Record<string, Setting>

/** Parsed settings of the chat platform. */
export interface ChatConfig {
  readonly enabled: boolean
  readonly tokensMax: number
  readonly budgetMs: number
  readonly concurrentMax: number
  readonly keyConcurrentMax: number
  readonly keyRpm: number
  readonly keyTpd: number
  readonly keysMax: number
  /** Addresses in text form. */
  readonly wallets: 'all' | readonly string[]
  readonly modelRouter: boolean
  readonly qaModel: boolean
  readonly comparisonFile: string | null
  readonly faqFile: string | null
  readonly espeak: string | null
}

type Name = keyof typeof CHAT_SETTINGS

/** Parses the settings; their texts have already been checked. */
export function readChat(textOf: (name: Name) => string | null): ChatConfig {
  const isOn = (name: Name): boolean => textOf(name) === 'true'
  const number = (name: Name): number => Number(textOf(name))
  const wallets = textOf('chat.wallets') ?? 'none'
  return {
    enabled: isOn('chat.enabled'),
    tokensMax: number('chat.tokens-max'),
    budgetMs: number('chat.budget-seconds') * 1_000,
    concurrentMax: number('chat.concurrent-max'),
    keyConcurrentMax: number('chat.key-concurrent-max'),
    keyRpm: number('chat.key-rpm'),
    keyTpd: number('chat.key-tpd'),
    keysMax: number('chat.keys-max'),
    wallets: wallets === 'all' ? 'all' : wallets === 'none' ? [] : wallets.split(','),
    modelRouter: isOn('chat.model-router'),
    qaModel: isOn('chat.qa-model'),
    comparisonFile: textOf('chat.comparison-file'),
    faqFile: textOf('chat.faq-file'),
    espeak: textOf('chat.espeak'),
  }
}
