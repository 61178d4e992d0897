/** What became of blocks that were heard of by gossip; counts since the start. */
export interface BlockFacts {
  /** Messages of our own: blocks mined here, come otherwise than by gossip, or put together with the help of peers. */
  announced: number
  /** Messages of other nodes. */
  heard: number
  bytes: number
  /** Blocks that gossip brought first, put together. */
  firstSeen: number
  /** Messages of headers that were known already. */
  duplicate: number
  unknownParent: number
  /** Blocks of branches that are too far below our head. */
  tooLight: number
  /** Blocks that came before their time. */
  early: number
  /** Headers, proofs of work and messages that condemn their sender. */
  bad: number
  /** Proofs of work that were hashed. */
  hashes: number
  /** Blocks put together with nothing asked for. */
  fromPool: number
  /** Blocks of which some transactions were asked for, and those transactions. */
  completed: number
  missingTransactions: number
  /** Blocks whose whole body was asked for. */
  wholeBodies: number
  /** Blocks of which nobody gave the body, or that the chain refused. */
  lost: number
  /** Sum of the milliseconds between a header's time and its body put together here, over `firstSeen` blocks. */
  delayMs: number
}

/** What became of transactions; counts since the start. */
export interface TransactionFacts {
  heard: number
  bytes: number
  accepted: number
  ignored: number
  rejected: number
  /** Refused because too many were under way; they are looked for again in the pools of others. */
  postponed: number
  /** Published by gossip by ourselves. */
  published: number
  /** Ids told to peers, and told by them. */
  idsSent: number
  idsHeard: number
  /** Transactions asked for and got. */
  pulled: number
}

/** Counts of blocks, all zero. */
export function noBlocks(): BlockFacts {
  return {
    announced: 0,
    heard: 0,
    bytes: 0,
    firstSeen: 0,
    duplicate: 0,
    unknownParent: 0,
    tooLight: 0,
    early: 0,
    bad: 0,
    hashes: 0,
    fromPool: 0,
    completed: 0,
    missingTransactions: 0,
    wholeBodies: 0,
    lost: 0,
    delayMs: 0,
  }
}

/** Counts of transactions, all zero. */
export function noTransactions(): TransactionFacts {
  return {
    heard: 0,
    bytes: 0,
    accepted: 0,
    ignored: 0,
    rejected: 0,
    postponed: 0,
    published: 0,
    idsSent: 0,
    idsHeard: 0,
    pulled: 0,
  }
}
