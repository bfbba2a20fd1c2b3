-- Says that a process lives, and returns those that do. KEYS: processes. ARGV: process, its lease.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], 10 * ARGV[2])
return redis.call('ZRANGE', KEYS[1], 0, -1)
