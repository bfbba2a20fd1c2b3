-- Forgets a process that has not lived for so long. KEYS: boots. ARGV: boot, milliseconds.
local _, over = parts(redis.call('HGET', KEYS[1], ARGV[1]))
if over < now - ARGV[2] * 1000 then redis.call('HDEL', KEYS[1], ARGV[1]) end
return 'ok'
