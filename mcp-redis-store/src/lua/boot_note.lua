-- Notes a process that has a task. If it is unknown, it does not live. KEYS: boots. ARGV: boot.
redis.call('HSETNX', KEYS[1], ARGV[1], string.format('0 %.0f ', now))
return 'ok'
