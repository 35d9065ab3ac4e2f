/** Owns the numbers that bound signing in by devices and through an identity provider; a part of `limits`. */

const KiB = 1024;

export const signInLimits = {
  // Signing in devices (RFC 8628) and their refresh tokens.
  /** How long the codes of a device are good. */
  deviceCodeSeconds: 600,
  /** Between two polls of a device; and by how much an early poll makes it longer, for good (RFC 8628, 3.5). */
  devicePollSeconds: 5,
  devicePollStepSeconds: 5,
  /** A poll that is early by less is on time: clocks and networks are not exact. */
  devicePollSlackMs: 500,
  /** Devices that may ask in a minute, over the whole hub. */
  deviceRequestsPerMinuteMax: 1000,
  /** Expired grants that one request of a device sweeps. */
  deviceSweepRowsMax: 100,
  /** Wrong user codes of one address or one account, in a window of this length. */
  userCodeTriesMax: 5,
  userCodeTriesMs: 600_000,
  clientIdCharsMax: 100,
  deviceNameCharsMax: 100,
  oauthFormBytesMax: 16 * KiB,
  /** A refresh token that is not used for so long ends its sign-in: 60 days. */
  refreshTokenSeconds: 60 * 86_400,
  /** How long a refresh token that was just used is taken once more, for an answer that got lost. */
  refreshRetryMs: 30_000,
  // Authorization code flow and its clients (OAuth 2.1, RFC 7591).
  /** A client exchanges its code in the same second; a person does not carry it. */
  authorizationCodeSeconds: 60,
  authorizationCodesMax: 10_000,
  authorizationCodesPerAccountMax: 20,
  oauthStateCharsMax: 2048,
  redirectUrisMax: 10,
  redirectUriCharsMax: 2048,
  clientRegistrationBytesMax: 16 * KiB,
  /** Registered clients over the whole hub; the unused one that expires first makes room. */
  clientRegistrationsMax: 1000,
  /** A registration that never led to a sign-in expires after a day. */
  clientUnusedMs: 86_400_000,
  /** One client ID metadata document: its size, its time, how long it is used again, and how many at once. */
  clientDocumentBytesMax: 16 * KiB,
  clientDocumentMs: 5000,
  clientDocumentFreshMs: 3_600_000,
  clientDocumentsRemembered: 500,
  clientDocumentFetchesMax: 8,
  /** Signed-in devices of an account; one more ends the one that was away longest. */
  signInsMax: 100,
  /** Live access tokens of an account; one more ends the one that expires first. */
  accessTokensLiveMax: 1000,

  // Signing in with a password.
  /** Wrong passwords of one browser, or of one address for one email, in a window of this length. */
  passwordTriesMax: 10,
  passwordTriesMs: 600_000,
  /** So many wrong passwords for one email in that window, from wherever, and strangers try one after another. */
  passwordTriesOfEmailMax: 10,
  /** Between two tries of strangers for an email under attack; at most so many wait, for any email and of one address. */
  slowSignInMs: 2000,
  slowSignInsWaitingMax: 10,
  slowSignInsOfAddressMax: 2,
  slowSignInEmailsMax: 10_000,
  /** How long a browser is known after its last sign-in: 400 days, the most that browsers keep a cookie. */
  browserMarkSeconds: 400 * 86_400,
  /** Keys and passwords are changed without asking for the password again for so long after it was given. */
  freshSignInMs: 900_000,
  /** Second factor: wrong codes from one address, and of all for one account, in a window of this length. */
  codeTriesMax: 5,
  codeTriesOfAccountMax: 20,
  codeTriesMs: 600_000,
  recoveryCodes: 10,
  userCodeCharsMax: 32,
  /** Sign-ins that wait for a code, and for how long. */
  pendingSignInsMax: 10_000,
  pendingSignInMs: 300_000,
  /** A link to reset a forgotten password, and how many are sent to one email in a window of this length. */
  resetSeconds: 1800,
  resetsMax: 3,
  resetsMs: 3_600_000,

  // Mail.
  lettersWaitingMax: 1000,
  /** Between tries to send a letter. */
  mailPausesMs: [2000, 30_000, 300_000],
  mailTimeoutMs: 10_000,

  // Security events.
  /** Acts and failures of an account that are kept, and for how many days. */
  auditActsMax: 1000,
  auditFailuresMax: 200,
  auditDays: 180,
  /** Equal failures from one address within this time of each other are one event. */
  auditSameFailureMs: 600_000,
  auditShownMax: 100,

  // Identity provider.
  /** One fetch of its metadata or its keys. */
  idpFetchMs: 5000,
  idpDocumentBytesMax: 256 * KiB,
  /** Its keys are asked for again when they are older. */
  idpKeysFreshMs: 600_000,
  /** Keys that could not be renewed are used for so long. */
  idpKeysStaleMs: 3_600_000,
  /** Between two tries to fetch keys, whatever tokens are sent. */
  idpKeysCoolDownMs: 30_000,
  /** How far its clock may differ from ours. */
  idpClockSkewSeconds: 30,
  idpTokenCharsMax: 8 * KiB,
  idpSubjectCharsMax: 255,
  /** Linked identities of an account. */
  identitiesMax: 10,
} as const;
