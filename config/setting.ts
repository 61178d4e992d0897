/** How a setting's text is parsed. */
export type SettingType =
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly allowed: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'dollars' }
  | { readonly kind: 'prices' }
  | { readonly kind: 'proxies' }

/** A setting. The name `rpc.port` is a path in the file; its flag is `--rpc-port`, its variable `FARTHING_RPC_PORT`. */
export interface Setting {
  readonly type: SettingType
  /** The default as text; null means unset. */
  readonly default: string | null
  readonly about: string
  /** The value may hold a password, so all of it, or its `secretParts`, must be hidden. */
  readonly isSecret?: true
  /** Global pattern of the parts to hide. */
  readonly secretParts?: RegExp
}

/** A setting of free text that may have a pattern. */
export function text(about: string, fallback: string | null, allowed: string, pattern?: RegExp): Setting {
  return {
    type: pattern === undefined ? { kind: 'text', allowed } : { kind: 'text', allowed, pattern },
    default: fallback,
    about,
  }
}

/** A whole number within bounds. */
export function integer(about: string, fallback: number, [min, max]: readonly [number, number]): Setting {
  return { type: { kind: 'integer', min, max }, default: String(fallback), about }
}

/** One of several words. */
export function choice(about: string, fallback: string, choices: readonly string[]): Setting {
  return { type: { kind: 'choice', choices }, default: fallback, about }
}

/** True or false. */
export function flag(about: string, fallback: boolean): Setting {
  return { type: { kind: 'boolean' }, default: String(fallback), about }
}

/** Dollars with up to six decimals. */
export function dollars(about: string, fallback: string | null): Setting {
  return { type: { kind: 'dollars' }, default: fallback, about }
}
