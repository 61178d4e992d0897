export const KINDS = [
  'bomb',
  'drip',
  'nested',
  'tables',
  'flat',
  'attributes',
  'unclosed',
  'circle',
  'inner',
  'robots',
] as const

/** Pages of each kind read at once. */
export const PER_KIND = 5
