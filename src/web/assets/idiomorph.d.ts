/** Declares the library that is served in front of our scripts, in the same module. */
declare const Idiomorph: typeof import('idiomorph').Idiomorph;
