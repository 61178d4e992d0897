/** Outcome codes of transactions.md, section 4. Code 1 is absent: it needs a broken invariant. */
export const CODE = {
  success: 0,
  noAccount: 2,
  insufficientBalance: 3,
  agentExists: 16,
  agentUnknown: 17,
  notOwner: 18,
  payoutNoAccount: 19,
  serviceUnknown: 20,
  serviceRetired: 21,
  closed: 32,
  foreign: 33,
  badOpener: 34,
  tabUnknown: 35,
  tabForeign: 36,
  tabStale: 37,
  tabOverCeiling: 38,
  tabOverDeposit: 39,
  tabSum: 40,
  tabCount: 41,
  tabSignature: 42,
  tabNoTerms: 43,
  tabDepositLow: 44,
  tabDelayShort: 45,
  tabClosing: 46,
  symbolTaken: 48,
  lookAlike: 49,
  tokenUnknown: 50,
  wrongKind: 51,
  notIssuer: 52,
  frozen: 53,
  notFreezable: 54,
  maxSupply: 55,
  underBacked: 64,
  noSurplus: 65,
  belowMinimumPaid: 66,
  poolExists: 80,
  poolUnknown: 81,
  limit: 82,
  tooSmall: 83,
  tooLarge: 84,
  stakeUnknown: 96,
  stakeLocked: 97,
  nothingDue: 98,
  bridgeClosed: 112,
  halted: 113,
  epoch: 114,
  attestation: 115,
  depositKnown: 116,
  mintCap: 117,
  float: 118,
  withdrawalUnknown: 119,
  withdrawalState: 120,
  rotationPending: 121,
  belowMinimum: 122,
} as const

export type CodeName = keyof typeof CODE

/** The failure of a payload. The changes that the payload made are undone. */
export class Failure extends Error {
  readonly code: number

  constructor(name: CodeName) {
    super(name)
    this.code = CODE[name]
  }
}

/** Fails the payload unless `condition` holds. */
export function need(condition: boolean, otherwise: CodeName): asserts condition {
  if (!condition) throw new Failure(otherwise)
}
