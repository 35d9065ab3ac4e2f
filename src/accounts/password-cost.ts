/** What a password hash costs: argon2id at OWASP's minimum, 19 MiB, 2 passes, 1 lane. */
export const PASSWORD_COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;
