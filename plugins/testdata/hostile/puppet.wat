;; A guest that does as its configuration says: {"do":"X"}, where X is one
;; letter, or {"do":"answer","answer":JSON} to answer with that JSON.
(module
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 4096))
  (data (i32.const 16) "{\"name\":\"puppet\",\"version\":\"1.0.0\",\"critic\":\"puppet\",\"formats\":[\"application/json\"],\"detect\":[\"/puppet\"],\"items\":[\"/findings/*\"]}")
  (func (export "switchyard_abi_v1"))

  (func (export "sy_alloc") (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (global.get $top))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (if (i32.gt_u (global.get $top) (i32.mul (memory.size) (i32.const 65536)))
      (then (if (i32.eq (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))) (i32.const -1))
        (then (return (i32.const 0))))))
    (local.get $at))

  (func (export "sy_describe") (result i64)
    (i64.const 0x1000000081)) ;; 129 bytes at 16

  (func $spin (loop $again (br $again)))
  (func $nothing)
  (func $call_forever (loop $again (call $nothing) (br $again)))
  (func $recurse (result i32) (i32.add (call $recurse) (i32.const 1)))
  (func $grow_forever (loop $again (drop (memory.grow (i32.const 1))) (br $again)))
  (func $grow_until_denied
    (loop $again
      (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
    (unreachable))
  ;; Two calls at each of 64 levels: more steps than there is time, and no loop.
  (func $tree (param $depth i32)
    (if (local.get $depth) (then
      (call $tree (i32.sub (local.get $depth) (i32.const 1)))
      (call $tree (i32.sub (local.get $depth) (i32.const 1))))))

  (func (export "sy_normalize") (param $report i32) (param $report_len i32) (param $config i32) (param $config_len i32) (result i64)
    (local $do i32)
    (local.set $do (i32.load8_u (i32.add (local.get $config) (i32.const 7))))
    (if (i32.eq (local.get $do) (i32.const 0x61)) (then ;; a: the answer given, which starts at byte 24
      (return (i64.or
        (i64.shl (i64.extend_i32_u (i32.add (local.get $config) (i32.const 24))) (i64.const 32))
        (i64.extend_i32_u (i32.sub (local.get $config_len) (i32.const 25)))))))
    (if (i32.eq (local.get $do) (i32.const 0x6c)) (then (call $spin)))              ;; l: loop
    (if (i32.eq (local.get $do) (i32.const 0x63)) (then (call $call_forever)))      ;; c: loop over calls
    (if (i32.eq (local.get $do) (i32.const 0x72)) (then (drop (call $recurse))))    ;; r: recurse
    (if (i32.eq (local.get $do) (i32.const 0x67)) (then (call $grow_forever)))      ;; g: loop that grows memory
    (if (i32.eq (local.get $do) (i32.const 0x6d)) (then (call $grow_until_denied))) ;; m: trap for want of memory
    (if (i32.eq (local.get $do) (i32.const 0x78)) (then (call $tree (i32.const 64)))) ;; x: exponential calls
    (if (i32.eq (local.get $do) (i32.const 0x74)) (then (unreachable)))             ;; t: trap
    (if (i32.eq (local.get $do) (i32.const 0x68)) (then (return (i64.const 0x00000010ffffffff)))) ;; h: huge answer
    (if (i32.eq (local.get $do) (i32.const 0x6f)) (then (return (i64.const 0xffffff0000000064)))) ;; o: outside of memory
    (if (i32.eq (local.get $do) (i32.const 0x6e)) (then (return (i64.const 0))))    ;; n: nothing
    (if (i32.eq (local.get $do) (i32.const 0x7a)) (then                             ;; z: divide by zero
      (return (i64.extend_i32_u (i32.div_u (i32.const 1) (i32.const 0))))))
    (unreachable)))
