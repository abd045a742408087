;; Calls itself by a built-in plugin's name.
(module
  (memory (export "memory") 1)
  (data (i32.const 16) "{\"name\":\"np-critic\",\"version\":\"1.0.0\",\"critic\":\"critic\",\"formats\":[\"application/json\"],\"detect\":[],\"items\":[\"/findings/*\"]}")
  (func (export "switchyard_abi_v1"))
  (func (export "sy_alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "sy_describe") (result i64) (i64.or (i64.const 0x1000000000) (i64.const 123)))
  (func (export "sy_normalize") (param i32 i32 i32 i32) (result i64) (unreachable)))
